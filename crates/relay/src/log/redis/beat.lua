#!lua flags=allow-oom
-- Says that the turn's owner lives.
-- KEYS: the turn. ARGV: log, epoch, the last frame that it knows of.
local turn = redis.call('HMGET', KEYS[1], 'log', 'epoch', 'last', 'end', 'stop', 'readers')
if not turn[1] then return {'gone'} end
if turn[1] ~= ARGV[1] or turn[2] ~= ARGV[2] then return {'fenced'} end
if turn[4] then return {'closed'} end
redis.call('HINCRBY', KEYS[1], 'beats', 1)
-- It may have more: an append has come meanwhile.
if tonumber(turn[3]) < tonumber(ARGV[3]) then return {'tail', turn[3]} end
return {'ok', turn[5] or '0', turn[6] or '0'}
