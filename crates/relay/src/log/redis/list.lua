#!lua
-- Adds a turn to the list of a user's turns, by the time. KEYS: the list. ARGV: the turn, milliseconds to live.
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], 'NX', time[1] .. string.format('%06d', time[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {'ok'}
