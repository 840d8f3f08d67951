// The arguments of `streams grant`. Its effect is tested in packages/event-store/src/connection/logUser.test.ts.
import t from 'tap'
import { runOps } from '../testing/runOps.ts'

t.test('streams grant needs both connection strings, and does nothing when they are the same', async (t) => {
  t.match(await runOps(['streams', 'grant'], { EVENTSTORE_URL: 'esdb://a:b@127.0.0.1:1' }), {
    code: 1,
    stderr: /EVENTSTORE_ADMIN_URL is required/,
  })
  const url = 'esdb://a:b@127.0.0.1:1'
  const same = await runOps(['streams', 'grant'], { EVENTSTORE_URL: url, EVENTSTORE_ADMIN_URL: url })
  t.match(same, { code: 0, stdout: /^Nothing to do: / })
})
