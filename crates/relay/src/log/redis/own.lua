#!lua
-- Notes whose a session is, unless it is known, and returns whose it is. KEYS: the session. ARGV: the user.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
