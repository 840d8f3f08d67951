// `streams read`, also for events that this program cannot decode.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { recordedEvents, upcaster } from '@paylog/domain/recordedEvents'
import { createCodec } from '@paylog/event-store/codec/codec'
import { positionAt } from '@paylog/testing/positionAt'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { exportHarness } from '../testing/exportHarness.ts'
import { jsonLines, runOps, startOps } from '../testing/runOps.ts'
import { eventJson, eventText } from './read.ts'

const harness = await exportHarness(t)
const { append, environment } = harness
const read = (...args: readonly string[]) => runOps(['streams', 'read', ...args], environment)

const seen = { occurred_at: '2026-11-01T00:00:00.000Z', guest_email: 'guest@example.com' }
const metadata = JSON.stringify({
  $correlationId: 'request-1',
  $causationId: 'request-1',
  actor: 'anonymous',
  schema: 1,
})
const known = { type: 'GuestTokenSeen', data: JSON.stringify(seen), metadata }

t.test('streams read shows an undecodable event as recorded, between the others', async (t) => {
  const stream = `guestToken-${randomUUID()}`
  await append(stream, known, { type: 'Unknown', data: '{"a":1.10}' }, { ...known, data: 'no JSON' }, known)
  const { code, stdout, stderr } = await read(stream, '--json')
  t.same([code, stderr], [0, ''])
  const lines = stdout.trimEnd().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  t.same(
    events.map(({ revision, type }) => `${revision} ${type}`),
    ['0 GuestTokenSeen', '1 Unknown', '2 GuestTokenSeen', '3 GuestTokenSeen'],
  )
  t.same(Object.keys(events[0]), ['id', 'stream', 'revision', 'position', 'type', 'created', 'data', 'metadata'])
  t.same(events[0].data, seen)
  t.match(lines[1], '"data":{"a":1.10},"metadata":{},"unreadable":"event')
  t.match(events[1].unreadable, /Unknown.* has an unknown type$/)
  t.match(events[2], { data_base64: Buffer.from('no JSON').toString('base64'), unreadable: /does not fit its schema/ })
  t.notOk('unreadable' in events[3])

  const text = (await read(stream)).stdout
  t.match(text, /^0 {2}GuestTokenSeen {2}[\dT:.-]+Z {2}by anonymous\n {4}occurred_at {2}"2026-11-01T00:00:00.000Z"\n/)
  t.match(
    text,
    /^1 {2}Unknown {2}[\dT:.-]+Z {2}cannot be decoded: event .* has an unknown type\n {4}\{"id":.*"data":\{"a":1\.10\},/m,
  )
  t.equal(text.match(/^\d /gm)?.length, 4)
})

t.test('streams read --json prints the lines of an export', async (t) => {
  const stream = `guestToken-${randomUUID()}`
  const data = '{ "guest_email": "guest\\u0040example.com", "occurred_at":"2026-11-01T00:00:00.000Z" }'
  await append(stream, { ...known, data }, { ...known, data: data.replace(',', ',\n') })
  const { stdout } = await read(stream, '--json')
  t.match(stdout, `"data":${data},"metadata":${metadata}}\n`)
  const path = harness.newPath()
  await harness.exportTo(path, '--stream', stream)
  t.equal(stdout, readFileSync(path, 'utf8'))
})

t.test('streams read shows an event with an old schema as recorded, not as upcast', async (t) => {
  const Before = Type.Object({ email: Type.String() })
  const codec = createCodec({
    current: recordedEvents,
    former: { GuestTokenSeen: upcaster(Before, ({ email }) => ({ ...seen, guest_email: email })) },
  })
  const bytes = Buffer.from('{"email":"guest@example.com"}')
  const event = {
    ...{ id: randomUUID(), stream: 'guestToken-1', revision: 0n, position: positionAt(7n) },
    ...{ type: 'GuestTokenSeen', contentType: 'application/json', created: new Date(0) },
    ...{ data: bytes, metadata: Buffer.from(metadata) },
  }
  const shown = JSON.parse(eventJson(event, codec))
  t.same([shown.type, shown.data, 'unreadable' in shown], ['GuestTokenSeen', { email: 'guest@example.com' }, false])
  t.match(eventText(event, codec), /^0 {2}GuestTokenSeen {2}\S+ {2}by anonymous\n {4}email {2}"guest@example\.com"$/)
  const newest = { ...event, type: 'GuestTokenSeen.v2', data: Buffer.from(JSON.stringify(seen)) }
  t.equal(JSON.parse(eventJson(newest, codec)).type, 'GuestTokenSeen.v2')
  t.match(eventText(newest, codec), /^0 {2}GuestTokenSeen\.v2 /)
})

t.test('streams read pages through a long stream, with --from and --limit', async (t) => {
  const stream = `guestToken-${randomUUID()}`
  for (let page = 0; page < 3; page++) await append(stream, ...Array(400).fill(known))
  const revisions = async (...flags: readonly string[]) =>
    jsonLines(await read(stream, '--json', ...flags)).map(({ revision }) => revision)
  t.same(
    await revisions(),
    Array.from({ length: 1_200 }, (_, index) => String(index)),
  )
  t.same(
    await revisions('--from', '400', '--limit', '501'),
    Array.from({ length: 501 }, (_, index) => String(400 + index)),
  )
})

/** A proxy to the store that counts the bytes from the store. */
async function countingProxy(t: Test) {
  let sent = 0
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(harness.store.connectionString).port), '127.0.0.1')
    upstream.on('data', ({ length }) => {
      sent += length
    })
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `esdb://127.0.0.1:${port}?tls=false`, sent: () => sent }
}

t.test('streams read stops reading when its reader has gone', async (t) => {
  const stream = `guestToken-${randomUUID()}`
  const long = JSON.stringify({ ...seen, guest_email: `${'x'.repeat(5_000)}@example.com` })
  for (let page = 0; page < 15; page++) await append(stream, ...Array(100).fill({ ...known, data: long }))
  const whole = await countingProxy(t)
  await runOps(['streams', 'read', stream, '--json'], { ...environment, EVENTSTORE_URL: whole.url })
  const left = await countingProxy(t)
  const running = startOps(t, ['streams', 'read', stream, '--json'], { ...environment, EVENTSTORE_URL: left.url })
  running.hangUp('stdout')
  t.match(await running.ended, { code: 0, stderr: /^$/ })
  t.ok(left.sent() > 0 && left.sent() < whole.sent() / 2, `${left.sent()} of ${whole.sent()} bytes were read`)
})

t.test('streams read of a stream without events fails', async (t) => {
  t.match(await read('guestToken-none'), { code: 1, stdout: '', stderr: 'There are no events in guestToken-none.\n' })
  await append('guestToken-short', known)
  t.match(await read('guestToken-short', '--from', '1'), { stderr: /^There are no events in .* from revision 1\.\n/ })
})
