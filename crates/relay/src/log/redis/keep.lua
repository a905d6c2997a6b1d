#!lua
-- Counts a turn as long as it can be there. KEYS: the user's running turns. ARGV: the turn, milliseconds to live.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {'ok'}
