import { readModelDatabase } from '@paylog/projections/testing/projectionHarness'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess } from '@paylog/testing/processes'
import t from 'tap'

const script = new URL('./main.ts', import.meta.url)

t.test('the query API runs alone and stops cleanly', async (t) => {
  const { authUrl } = await startFakeIdentity(t)
  const { databaseUrl } = await readModelDatabase(t)
  const env = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    AUTH_URL: authUrl,
    LOG_LEVEL: 'info',
  }
  const process = await startProcess(t, { script, env })
  const base = String(process.detail.url)
  t.match(base, /^http:\/\/127\.0\.0\.1:/)
  const ready = await fetch(`${base}/health/ready`)
  t.equal(ready.status, 200)
  const list = await fetch(`${base}/payments?token=demo-guest-token`)
  t.equal(list.status, 200)
  t.match(await list.json(), { success: true, data: [], user_context: { user_email: 'guest@example.com' } })
  t.equal((await fetch(`${base}/payments`)).status, 401)
  t.notMatch(process.output(), /demo-guest-token|guest@example/, 'neither credentials nor e-mails are logged')
  await process.stop()
  t.same(await process.exited, { code: 0, signal: null })
})
