// Reads of one stream, in every form of the protocol.

import { BACKWARDS, END, START } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { type ReadForm, readMessages, readRequest } from '../rawReads.ts'
import { appendEitherWay } from './appendEitherWay.ts'
import { shown } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client, isKurrentDb } = await conformanceTarget(t)

const append = (stream: string, count: number) =>
  appendEitherWay(raw, 'BatchAppend', { stream, events: Array.from({ length: count }, () => ({})) })
const revisions = (from: number, count: number, step = 1) =>
  Array.from({ length: count }, (_, index) => String(from + index * step))

async function streamOf(count: number): Promise<string> {
  const stream = freshName('read')
  await append(stream, count)
  return stream
}

t.test('stream reads include their start revision, and backwards reads start at the end at the latest', async (t) => {
  const stream = await streamOf(5)
  const table: [Omit<ReadForm, 'stream'>, string[]][] = [
    [{ from: 0n }, revisions(0, 5)],
    [{ from: 4n }, ['4']],
    [{ from: 5n }, []],
    [{ from: (1n << 63n) - 1n }, []],
    [{ from: 3n, backwards: true }, revisions(3, 4, -1)],
    [{ from: 'start', backwards: true }, ['0']],
    [{ from: 'end', backwards: true }, revisions(4, 5, -1)],
    [{ from: 4n, backwards: true }, revisions(4, 5, -1)],
    [{ from: 400n, backwards: true }, revisions(4, 5, -1)],
    [{ from: (1n << 63n) - 1n, backwards: true }, revisions(4, 5, -1)],
    // The largest number is EventStoreDB's own end.
    [{ from: (1n << 64n) - 1n, backwards: true }, revisions(4, 5, -1)],
    [{ from: 1n, count: 2 }, ['1', '2']],
    [{ from: 3n, count: 2, backwards: true }, ['3', '2']],
    [{ from: 400n, count: 2, backwards: true }, ['4', '3']],
  ]
  for (const [form, expected] of table)
    t.same(await shown(raw, { stream, ...form }), expected, `${JSON.stringify(form, String)}`)
})

t.test('stream reads longer than a page return all events up to their count', async (t) => {
  const stream = freshName('long')
  for (let appended = 0; appended < 1_300; appended += 650) await append(stream, 650)
  t.same(await shown(raw, { stream, from: 'start', count: 100_000 }), revisions(0, 1_300))
  t.same(await shown(raw, { stream, from: 'end', backwards: true, count: 100_000 }), revisions(1_299, 1_300, -1))
  for (const count of [31, 32, 33, 511, 512, 513, 1_025]) {
    t.same(await shown(raw, { stream, from: 7n, count }), revisions(7, count), `${count} forwards`)
    t.same(
      await shown(raw, { stream, from: 1_200n, backwards: true, count }),
      revisions(1_200, count, -1),
      `${count} backwards`,
    )
  }
  const seen: bigint[] = []
  for await (const { event } of client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 600 })) {
    if (event) seen.push(event.revision)
  }
  t.same(seen, revisions(1_299, 600, -1).map(BigInt))
})

t.test('clients that support positions get the first and last position of a stream', async (t) => {
  const stream = await streamOf(50)
  const table: [string, Omit<ReadForm, 'stream'>, string[]][] = [
    ['{}', { from: 0n, count: 2 }, ['0', '1', 'last 49']],
    ['{}', { from: 49n }, ['49', 'last 49']],
    ['{}', { from: 50n }, ['last 49']],
    ['{}', { from: 51n }, ['first 50', 'last 49']],
    ['{}', { from: 'end', backwards: true, count: 2 }, ['49', '48', 'last 49']],
    ['{}', { from: 400n, backwards: true, count: 1 }, ['49', 'last 49']],
    // EventStoreDB reads up to 32 revisions at a time, and after an empty page sends the next revision.
    ['{"$tb":45}', { from: 0n, count: 40 }, ['first 45', ...revisions(45, 5), 'last 49']],
    ['{"$tb":45}', { from: 13n, count: 40 }, ['first 45', ...revisions(45, 5), 'last 49']],
    ['{"$tb":45}', { from: 14n, count: 40 }, [...revisions(45, 5), 'last 49']],
    ['{"$tb":45}', { from: 40n, count: 5 }, ['first 45', ...revisions(45, 5), 'last 49']],
    ['{"$tb":45}', { from: 41n, count: 5 }, [...revisions(45, 5), 'last 49']],
    ['{"$maxCount":2}', { from: 0n }, ['first 48', '48', '49', 'last 49']],
    ['{"$tb":45}', { from: 44n, backwards: true }, ['last 49']],
    ['{"$tb":60}', { from: 0n }, ['first 60', 'first 50', 'last 49']],
    ['{"$tb":60}', { from: 40n }, ['first 50', 'last 49']],
    ['{"$tb":60}', { from: 50n }, ['last 49']],
    ['{"$tb":50}', { from: 0n }, ['first 50', 'last 49']],
  ]
  for (const [metadata, form, expected] of table) {
    const event = { type: '$metadata', contentType: 'application/json', data: metadata }
    await appendEitherWay(raw, 'Append', { stream: `$$${stream}`, events: [event] })
    const what = `${metadata} ${JSON.stringify(form, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`
    t.same(await shown(raw, { stream, ...form, compatibility: 1 }), expected, what)
    const events = expected.filter((word) => /^\d+$/.test(word))
    t.same(await shown(raw, { stream, ...form, compatibility: 0 }), events, `${what}, without compatibility`)
  }
  t.same(await shown(raw, { stream: freshName('never'), from: 'start', compatibility: 1 }), ['not found'])
})

t.test('an invalid stream read gets the status of EventStoreDB', async (t) => {
  const stream = await streamOf(3)
  const changed = (change: (options: ReadReq.Options) => unknown, form: Partial<ReadForm> = {}) => {
    const request = readRequest({ stream, from: 'start', ...form })
    const options = request.getOptions()
    if (options) change(options)
    return request
  }
  const empty = () => new shared.Empty()
  const filter = new streams.ReadReq.Options.FilterOptions().setCount(empty())
  const table: [string, ReadReq, string][] = [
    ['no options', new streams.ReadReq(), 'UNKNOWN'],
    ['no id form', changed((options) => options.clearUuidOption()), 'INVALID_ARGUMENT'],
    ['neither a stream nor all', changed((options) => options.clearStream()), 'INVALID_ARGUMENT'],
    ['no stream identifier', changed((options) => options.getStream()?.clearStreamIdentifier()), 'UNKNOWN'],
    ['no name', changed(() => undefined, { stream: '' }), 'UNKNOWN'],
    ['neither count nor subscription', changed((options) => options.clearCount()), 'INVALID_ARGUMENT'],
    ['neither a filter nor none', changed((options) => options.clearNoFilter()), 'INVALID_ARGUMENT'],
    ['one stream, filtered', changed((options) => options.setFilter(filter)), 'INVALID_ARGUMENT'],
    ['a subscription backwards', changed(() => undefined, { count: null, backwards: true }), 'INVALID_ARGUMENT'],
    ['a count of 0', changed(() => undefined, { count: 0 }), 'UNKNOWN'],
    ['a count of 0 backwards', changed(() => undefined, { count: 0, backwards: true }), 'UNKNOWN'],
    ['forwards from the end', changed(() => undefined, { from: 'end' }), 'UNKNOWN'],
    ['forwards from the end, by number', changed(() => undefined, { from: (1n << 64n) - 1n }), 'UNKNOWN'],
    ['a revision of 64 bits', changed(() => undefined, { from: 1n << 63n }), 'UNKNOWN'],
  ]
  for (const [what, request, code] of table) {
    t.same(await readMessages(raw, request), { messages: [], failed: { code, trailers: {} } }, what)
  }
  const nowhere = changed((options) => options.getStream()?.clearStart())
  const nothing = { messages: [], ...(isKurrentDb ? { failed: { code: 'UNKNOWN', trailers: {} } } : {}) }
  t.same(await readMessages(raw, nowhere), nothing, 'a read without a start position gets no messages')
})

t.test('ids are sent as two halves unless text is requested', async (t) => {
  const stream = await streamOf(1)
  const request = readRequest({ stream, from: 'start' })
  request.getOptions()?.setUuidOption(new streams.ReadReq.Options.UUIDOption())
  const { messages } = await readMessages(raw, request)
  t.ok(messages[0]?.getEvent()?.getEvent()?.getId()?.hasStructured())
})

t.test('an event has its creation time in units of 100 ns', async (t) => {
  const beforeMs = Date.now()
  const stream = await streamOf(1)
  const { messages } = await readMessages(raw, readRequest({ stream, from: 'start' }))
  const created = messages[0]?.getEvent()?.getEvent()?.getMetadataMap().get('created') ?? ''
  t.match(created, /^\d{17,18}$/)
  const skewMs = 5_000
  t.ok(Number(BigInt(created) / 10_000n) > beforeMs - skewMs && Number(BigInt(created) / 10_000n) < Date.now() + skewMs)
})

t.test('the client distinguishes streams that are not found and deleted', async (t) => {
  const readAll = async (stream: string) => {
    for await (const _ of client.readStream(stream, { fromRevision: START })) t.fail('there is no event')
  }
  const failureOf = (stream: string) => readAll(stream).catch((error: unknown) => error)
  const never = freshName('never')
  t.match(await failureOf(never), { type: 'stream-not-found', streamName: never })
  await client.tombstoneStream(never)
  t.match(await failureOf(never), { type: 'stream-deleted', streamName: never })
})
