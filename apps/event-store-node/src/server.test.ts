// What a client may do to the server without anyone else noticing.

import { EventStoreDBClient } from '@eventstore/db-client'
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { Client, credentials, status } from '@grpc/grpc-js'
import t from 'tap'
import { numbered, startNodeUnderTest } from './testing/nodeUnderTest.ts'
import { batchRequest, connectRaw } from './testing/rawStreams.ts'

t.test('thousands of cancelled calls do not end a connection', async (t) => {
  const { node } = await startNodeUnderTest(t)
  const raw = connectRaw(t, node.port)
  for (let count = 0; count < 2_500; count += 1) {
    await new Promise<void>((resolve, reject) => {
      const call = raw.batchAppend()
      let answered = false
      call.on('error', (error) => answered || reject(error))
      call.on('data', () => {
        answered = true
        call.cancel()
        resolve()
      })
      call.write(batchRequest({ stream: 'nothing', expected: 'stream_exists', events: [{}] }))
    })
  }
  t.pass('every call was answered')
})

t.test('bytes that are no message fail their call and nothing else', async (t) => {
  const { node, client } = await startNodeUnderTest(t)
  const bare = new Client(`127.0.0.1:${node.port}`, credentials.createInsecure())
  t.teardown(() => bare.close())
  const garbage = Buffer.from('ffffffffffffffffffffff', 'hex')
  const failure = await new Promise<{ code: status }>((resolve) => {
    const path = '/event_store.client.streams.Streams/Read'
    const call = bare.makeServerStreamRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes) => bytes,
      garbage,
    )
    call.on('data', () => undefined).on('error', (error) => resolve(Object.assign({ code: status.OK }, error)))
  })
  t.equal(failure.code, status.INTERNAL)
  t.ok((await client.appendToStream('others', numbered(0, 1))).success)
})

t.test('the methods of Streams are advertised, and no persistent subscriptions', async (t) => {
  const { node } = await startNodeUnderTest(t)
  const client = new serverFeaturesGrpc.ServerFeaturesClient(`127.0.0.1:${node.port}`, credentials.createInsecure())
  t.teardown(() => client.close())
  const methods = await new Promise<SupportedMethods>((resolve, reject) => {
    client.getSupportedMethods(new shared.Empty(), (error, answer) => (error ? reject(error) : resolve(answer)))
  })
  const names = methods.getMethodsList().map((method) => `${method.getServiceName()}/${method.getMethodName()}`)
  t.ok(names.includes('event_store.client.streams.streams/batchappend'))
  t.notOk(names.some((name) => name.includes('persistent')))
})

t.test('a client with several addresses finds the node by gossip', async (t) => {
  const { node } = await startNodeUnderTest(t)
  const address = `127.0.0.1:${node.port}`
  const client = EventStoreDBClient.connectionString(`esdb://${address},${address}?tls=false`)
  t.teardown(() => client.dispose())
  t.ok((await client.appendToStream('found', numbered(0, 1))).success)
})
