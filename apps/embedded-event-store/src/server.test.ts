// Limits and discovery of the server.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { EventStoreDBClient } from '@eventstore/db-client'
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { credentials } from '@grpc/grpc-js'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import { startEmbeddedEventStore } from './embeddedEventStore.ts'
import { batchRequest, connectRaw } from './testing/rawStreams.ts'
import { numbered, startServerHarness } from './testing/serverHarness.ts'

const { node } = await startServerHarness(t)
const log = createLog({ app: 'embedded-event-store', level: 'silent' })

/** More than Node's default limit of a thousand, plus 33 a second. */
const cancelledCalls = 1_500

t.test('a connection survives more than a thousand cancelled calls', async (t) => {
  const raw = connectRaw(t, node.port)
  for (let count = 0; count < cancelledCalls; count += 1) {
    await new Promise<void>((resolve, reject) => {
      const call = raw.batchAppend()
      let hasResponse = false
      call.on('error', (error) => hasResponse || reject(error))
      call.on('data', () => {
        hasResponse = true
        call.cancel()
        resolve()
      })
      call.write(batchRequest({ stream: 'nothing', expected: 'stream_exists', events: [{}] }))
    })
  }
  t.pass('every call got a response')
})

t.test('the server advertises the methods of Streams and no persistent subscriptions', async (t) => {
  const client = new serverFeaturesGrpc.ServerFeaturesClient(`127.0.0.1:${node.port}`, credentials.createInsecure())
  t.teardown(() => client.close())
  const methods = await new Promise<SupportedMethods>((resolve, reject) => {
    client.getSupportedMethods(new shared.Empty(), (error, response) => (error ? reject(error) : resolve(response)))
  })
  const names = methods.getMethodsList().map((method) => `${method.getServiceName()}/${method.getMethodName()}`)
  t.ok(names.includes('event_store.client.streams.streams/batchappend'))
  t.notOk(names.some((name) => name.includes('persistent')))
})

t.test('the server advertises its limit of concurrent calls per connection', async (t) => {
  const session = connectHttp2(`http://127.0.0.1:${node.port}`)
  t.teardown(() => session.destroy())
  const [settings] = await once(session, 'remoteSettings')
  t.equal(settings.maxConcurrentStreams, 1_000)
})

t.test('a client with several addresses finds the server by gossip', async (t) => {
  const address = `127.0.0.1:${node.port}`
  const client = EventStoreDBClient.connectionString(`esdb://${address},${address}?tls=false`)
  t.teardown(() => client.dispose())
  t.ok((await client.appendToStream('found', numbered(0, 1))).success)
})

t.test('startServer names an address of another machine in its error', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  // A documentation address, which no machine has.
  const start = startEmbeddedEventStore({
    host: '192.0.2.1',
    port: 0,
    databaseUrl,
    log,
    fail: (error) => t.fail(String(error)),
  })
  await t.rejects(start, { message: /^cannot listen on 192\.0\.2\.1:0: listen EADDRNOTAVAIL[^[\]\n]*$/ })
})
