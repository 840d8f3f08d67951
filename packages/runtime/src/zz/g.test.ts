import t from 'tap'
import { createServer } from 'node:net'
t.test('hang', async (t) => { t.ok(1); createServer().listen(0); })
