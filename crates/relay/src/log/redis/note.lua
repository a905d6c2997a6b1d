#!lua flags=allow-oom
-- Counts one of a running turn's fields up: what is asked of its owner. KEYS: the turn. ARGV: the field.
local turn = redis.call('HMGET', KEYS[1], 'log', 'end')
if not turn[1] then return {'gone'} end
if not turn[2] then redis.call('HINCRBY', KEYS[1], ARGV[1], 1) end
return {'ok'}
