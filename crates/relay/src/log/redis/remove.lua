#!lua flags=allow-oom
-- Removes a turn that never began, if the caller still owns it.
-- KEYS: the turn, its frames, what is left of it. ARGV: log, epoch, for how many milliseconds that is left.
local turn = redis.call('HMGET', KEYS[1], 'log', 'epoch')
if turn[1] and (turn[1] ~= ARGV[1] or turn[2] ~= ARGV[2]) then return {'fenced'} end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('SET', KEYS[3], '', 'PX', ARGV[3])
return {'ok'}
