// Authentication, with the real client and with raw calls.
import type { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreDBClient, START } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { credentials, Metadata, status } from '@grpc/grpc-js'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t, { type Test } from 'tap'
import { loadSettings } from './commandLine.ts'
import { startEmbeddedEventStore } from './embeddedEventStore.ts'
import { numbered } from './testing/serverHarness.ts'

const headerOf = (credential: string) => `Basic ${Buffer.from(credential).toString('base64')}`

async function startGuardedNode(t: Test): Promise<number> {
  const { databaseUrl } = await createTestDatabase(t)
  const node = await startEmbeddedEventStore({
    host: '127.0.0.1',
    port: 0,
    databaseUrl,
    credentials: ['paylog:first', 'auditor:se:cond'],
    log: createLog({ app: 'embedded-event-store', level: 'silent' }),
    fail: (error) => t.fail('the server gave up', { error }),
  })
  t.teardown(() => node.stop())
  return node.port
}

/** Calls every method of Streams with this header. @returns their statuses */
async function statusesWith(t: Test, port: number, header: string | undefined): Promise<Record<string, status>> {
  const client = new streamsGrpc.StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure())
  t.teardown(() => client.close())
  const metadata = new Metadata()
  if (header !== undefined) metadata.set('authorization', header)
  const statuses: Record<string, status> = {}
  const ended = (name: string, call: EventEmitter) =>
    new Promise<void>((resolve) => {
      call.on('error', () => {})
      call.on('data', () => {})
      call.on('status', ({ code }) => {
        statuses[name] = code
        resolve()
      })
    })
  const whole = new streams.ReadReq.Options.AllOptions().setStart(new shared.Empty())
  const read = new streams.ReadReq().setOptions(
    new streams.ReadReq.Options()
      .setAll(whole)
      .setCount('1')
      .setNoFilter(new shared.Empty())
      .setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty())),
  )
  const append = client.append(metadata, () => {})
  const batchAppend = client.batchAppend(metadata)
  const all = [
    ended('read', client.read(read, metadata)),
    ended('append', append),
    ended(
      'delete',
      client.delete(new streams.DeleteReq(), metadata, () => {}),
    ),
    ended(
      'tombstone',
      client.tombstone(new streams.TombstoneReq(), metadata, () => {}),
    ),
    ended('batchAppend', batchAppend),
  ]
  append.end()
  batchAppend.end()
  await Promise.all(all)
  return statuses
}

t.test('a server with credentials rejects every call without valid ones as UNAUTHENTICATED', async (t) => {
  const port = await startGuardedNode(t)
  const everywhere = (code: status) => ({ read: code, append: code, delete: code, tombstone: code, batchAppend: code })
  const wrong = ['paylog:wrong', 'paylog:', 'paylog:firs', 'paylog:first:', 'nobody:first', 'auditor:se'].map(headerOf)
  for (const header of [undefined, 'Basic', 'Bearer first', ...wrong, headerOf('paylog:first').slice(0, -1)])
    t.same(await statusesWith(t, port, header), everywhere(status.UNAUTHENTICATED), `rejects ${header}`)
  for (const credential of ['paylog:first', 'auditor:se:cond']) {
    const codes = Object.values(await statusesWith(t, port, headerOf(credential)))
    t.notOk(codes.includes(status.UNAUTHENTICATED), `takes ${credential}`)
  }
})

t.test('a client without credentials gets an access error from every call at once', async (t) => {
  const port = await startGuardedNode(t)
  // With several addresses, the client first requests the cluster and the server features, without credentials.
  const address = `127.0.0.1:${port}`
  const client = EventStoreDBClient.connectionString(`esdb://${address},${address}?tls=false`)
  t.teardown(() => client.dispose())
  const denied = { message: /UNAUTHENTICATED/ }
  await t.rejects(client.appendToStream('s', numbered(0, 1)), denied)
  await t.rejects(client.appendToStream('s', numbered(0, 1), { credentials: { username: 'a', password: 'b' } }), denied)
  await t.rejects(client.deleteStream('s'), denied)
  const read = async () => {
    for await (const event of client.readAll({ fromPosition: START })) t.fail('an event', { event })
  }
  await t.rejects(read(), denied)
})

t.test('--credentials reads a file with one user:password per line that only its owner can read', (t) => {
  const directory = t.testdir({})
  const settings = (content: string, mode = 0o600) => {
    const file = join(directory, String(Math.random()))
    writeFileSync(file, content, { mode })
    return loadSettings({ DATABASE_URL: 'postgres://127.0.0.1/x', EVENTSTORE_CREDENTIALS_FILE: file }, {})
  }
  t.same(settings('paylog:a\nauditor:b:c\n').EVENTSTORE_CREDENTIALS, ['paylog:a', 'auditor:b:c'])
  for (const mode of [0o640, 0o604, 0o644])
    t.throws(() => settings('paylog:a', mode), {
      message: /CREDENTIALS_FILE names a file that other accounts can read/,
    })
  for (const bad of ['paylog', ':a', 'paylog:', 'paylog:a\n\nb', '\n\n'])
    t.throws(
      () => settings(bad),
      { message: /EVENTSTORE_CREDENTIALS must be lines of user:password/ },
      `rejects ${bad}`,
    )
  t.throws(() => settings(''), { message: /EVENTSTORE_CREDENTIALS_FILE names an empty file/ })
  t.end()
})
