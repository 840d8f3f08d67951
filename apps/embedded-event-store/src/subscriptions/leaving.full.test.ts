// Subscribers that disconnect during a database outage.
import { once } from 'node:events'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startEmbeddedEventStore } from '../embeddedEventStore.ts'
import { connect, numbered } from '../testing/serverHarness.ts'

// An unhandled rejection would fail this test.
t.test('a subscriber that disconnects during an outage causes no unhandled rejection', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const proxied = new URL(databaseUrl)
  const proxy = await startTcpProxy(t, Number(proxied.port))
  proxied.port = String(proxy.port)
  const node = await startEmbeddedEventStore({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: proxied.href,
    log: createLog({ app: 'embedded-event-store', level: 'silent' }),
    fail: (error) => t.fail('the server gave up', { error }),
  })
  t.teardown(() => node.stop())
  const client = connect(t, node.port)
  await client.appendToStream('before', numbered(0, 3))
  const subscriptions = Array.from({ length: 4 }, () => client.subscribeToAll())
  for (const subscription of subscriptions) subscription.on('data', () => undefined)
  await Promise.all(subscriptions.map((subscription) => once(subscription, 'caughtUp')))
  await proxy.refuse()
  await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()))
  await proxy.accept()
  const appended = await waitFor(() => client.appendToStream('after', numbered(0, 1)).catch(() => undefined), {
    what: 'the server to have a database again',
  })
  t.ok(appended.success)
})
