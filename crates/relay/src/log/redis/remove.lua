#!lua flags=allow-oom
-- Removes a turn that never began, if the caller still owns it. KEYS: the turn, its frames. ARGV: log, epoch.
local turn = redis.call('HMGET', KEYS[1], 'log', 'epoch')
if turn[1] and (turn[1] ~= ARGV[1] or turn[2] ~= ARGV[2]) then return {'fenced'} end
redis.call('DEL', KEYS[1], KEYS[2])
return {'ok'}
