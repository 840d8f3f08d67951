// Reads of the whole log: order, bounds, counts and filters. Events of other clients do not matter.

import { randomUUID } from 'node:crypto'
import { BACKWARDS, END, FORWARDS, type Position } from '@eventstore/db-client'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { type RawFilter, type ReadForm, readMessages, readRequest } from '../rawReads.ts'
import { appendEitherWay } from './appendEitherWay.ts'
import { streamOf } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client, isKurrentDb } = await conformanceTarget(t)

/** More events than other clients write meanwhile. */
const everything = 100_000

type Written = { readonly name: string; readonly position: bigint }

function eventsIn(messages: readonly ReadResp[]) {
  return messages.flatMap((message) => message.getEvent()?.getEvent() ?? [])
}

async function namesRead(form: ReadForm): Promise<string[] | string> {
  const { messages, failed } = await readMessages(raw, readRequest(form))
  if (failed) return failed.code
  return eventsIn(messages).map((event) => Buffer.from(event.getData_asU8()).toString())
}

/** Appends five events to two streams, with their name as data, and then one event to another stream. */
async function appendSamples() {
  const run = randomUUID()
  const [a, b] = [`${run}-a`, `${run}-b`]
  const named = (name: string, type: string) => ({ type, data: `${run} ${name}` })
  const appends = [
    { stream: a, events: [named('0', 'Paid'), named('1', 'Refused')] },
    { stream: b, events: [named('2', 'Paid')] },
    { stream: a, events: [named('3', 'PaidLate'), named('4', 'paid')] },
  ]
  for (const append of appends) await appendEitherWay(raw, 'BatchAppend', append)
  const { position: after = 0n } = await appendEitherWay(raw, 'BatchAppend', {
    stream: freshName('after'),
    events: [{}],
  })
  const first = await readMessages(raw, readRequest({ stream: a, from: 'start' }))
  const second = await readMessages(raw, readRequest({ stream: b, from: 'start' }))
  const written: Written[] = eventsIn([...first.messages, ...second.messages])
    .map((event) => ({
      name: Buffer.from(event.getData_asU8()).toString(),
      position: BigInt(event.getCommitPosition()),
    }))
    .sort((one, other) => (one.position < other.position ? -1 : 1))
  const names = (...numbers: number[]) => numbers.map((number) => `${run} ${number}`)
  const at = (number: number) => written[number]?.position ?? 0n
  return { run, a, b, written, names, at, after, own: { by: 'stream', prefixes: [run] } as RawFilter }
}

t.test('a forwards read of the log includes its start position, a backwards read excludes it', async (t) => {
  const { written, names, at, after, own } = await appendSamples()
  t.same(
    written.map(({ name }) => name),
    names(0, 1, 2, 3, 4),
  )
  t.equal(new Set(written.map(({ position }) => position)).size, 5)
  const table: [ReadForm, string[]][] = [
    [{ from: at(0) }, names(0, 1, 2, 3, 4)],
    [{ from: at(2) }, names(2, 3, 4)],
    [{ from: at(3) }, names(3, 4)],
    [{ from: at(4) }, names(4)],
    [{ from: after }, []],
    [{ from: after, backwards: true }, names(4, 3, 2, 1, 0)],
    [{ from: 'end' }, []],
    [{ from: at(4), backwards: true }, names(3, 2, 1, 0)],
    [{ from: at(2), backwards: true }, names(1, 0)],
    [{ from: at(0), backwards: true }, []],
    [{ from: 'start', backwards: true }, []],
    [{ from: 'end', backwards: true, count: 5 }, names(4, 3, 2, 1, 0)],
    [{ from: (1n << 64n) - 1n, backwards: true, count: 2 }, names(4, 3)],
    [{ from: at(1), count: 2 }, names(1, 2)],
    [{ from: at(4), count: 3, backwards: true }, names(3, 2, 1)],
  ]
  for (const [form, expected] of table) {
    const what = JSON.stringify(form, (_, value) => (typeof value === 'bigint' ? String(value - at(0)) : value))
    t.same(await namesRead({ ...form, filter: own }), expected, what)
  }
})

t.test('an unfiltered read of the log includes truncated and deleted events', async (t) => {
  const { a, b, at, after } = await appendSamples()
  await client.setStreamMetadata(a, { maxCount: 1 })
  await client.deleteStream(a)
  const ownEvents = async (form: ReadForm) => {
    const { messages } = await readMessages(raw, readRequest({ ...form, count: everything }))
    return eventsIn(messages).flatMap((event) => {
      const stream = streamOf(event)
      const type = event.getMetadataMap().get('type')
      return [a, b, `$$${a}`].includes(stream) ? [`${stream.replace(/[^$]*-/, '')} ${type}`] : []
    })
  }
  const written = ['a Paid', 'a Refused', 'b Paid', 'a PaidLate', 'a paid']
  t.same(await ownEvents({ from: at(0) }), [...written, '$$a $metadata', '$$a $metadata'])
  t.same(await ownEvents({ from: after, backwards: true }), [...written].reverse())
})

t.test('filters match by stream or type, with prefixes or a regular expression, for any window', async (t) => {
  const { run, a, b, names, at, after } = await appendSamples()
  const table: [RawFilter, string[]][] = [
    [{ by: 'stream', prefixes: [a] }, names(0, 1, 3, 4)],
    [{ by: 'stream', prefixes: ['nothing', b] }, names(2)],
    [{ by: 'stream', prefixes: [run, a, run] }, names(0, 1, 2, 3, 4)],
    [{ by: 'stream', regex: `^${run}-(b|c)$` }, names(2)],
    [{ by: 'stream', regex: `${run.slice(3)}-a` }, names(0, 1, 3, 4)],
    // A regular expression takes precedence over prefixes; without either, nothing matches.
    [{ by: 'stream', regex: `^${b}$`, prefixes: [a] }, names(2)],
    [{ by: 'stream', prefixes: [] }, []],
    [{ by: 'stream', regex: '' }, []],
  ]
  for (const [filter, expected] of table) {
    for (const window of [undefined, 1, 3, 1_000]) {
      const within = window === undefined ? filter : { ...filter, window }
      t.same(await namesRead({ from: at(0), filter: within }), expected, JSON.stringify(within))
      t.same(await namesRead({ from: after, backwards: true, count: 1_000, filter: within }), [...expected].reverse())
    }
    t.same(await namesRead({ from: at(0), count: 1, filter }), expected.slice(0, 1), `one of ${JSON.stringify(filter)}`)
  }
})

t.test('filters by type match events of all streams', async (t) => {
  const { run, names, at } = await appendSamples()
  const ofThisRun = async (filter: RawFilter) => {
    const read = await namesRead({ from: at(0), count: everything, filter })
    return typeof read === 'string' ? read : read.filter((name) => name.startsWith(run))
  }
  t.same(await ofThisRun({ by: 'type', prefixes: ['Paid'] }), names(0, 2, 3))
  t.same(await ofThisRun({ by: 'type', prefixes: ['Ref', 'pai'] }), names(1, 4))
  t.same(await ofThisRun({ by: 'type', regex: '^Paid$' }), names(0, 2))
  t.same(await ofThisRun({ by: 'type', regex: '[Pp]aid' }), names(0, 2, 3, 4))
})

t.test('a filtered read finds few events among many and stops at its count', async (t) => {
  const { own, names, at } = await appendSamples()
  const noise = freshName('noise')
  for (let appended = 0; appended < 1_200; appended += 600) {
    await appendEitherWay(raw, 'BatchAppend', { stream: noise, events: Array.from({ length: 600 }, () => ({})) })
  }
  const rare = { by: 'stream', prefixes: [own.prefixes?.[0] ?? '', `${noise}-rare`] } as const
  const after = await appendEitherWay(raw, 'BatchAppend', { stream: `${noise}-rare`, events: [{ data: 'rare' }] })
  t.same(await namesRead({ from: at(3), filter: rare }), [...names(3, 4), 'rare'])
  t.same(await namesRead({ from: 'end', backwards: true, count: 2, filter: rare }), ['rare', ...names(4)])
  const many = await readMessages(raw, readRequest({ from: at(0), count: 1_205 }))
  const positions = eventsIn(many.messages).map((event) => BigInt(event.getCommitPosition()))
  t.equal(positions.length, 1_205)
  t.ok(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)))
  t.ok((positions.at(-1) ?? 0n) < (after.position ?? 0n))
})

t.test('an invalid read of the log gets the status of EventStoreDB', async (t) => {
  const { at } = await appendSamples()
  const changed = (form: Partial<ReadForm>, change: (options: ReadReq.Options) => unknown = () => undefined) => {
    const request = readRequest({ from: at(0), ...form })
    const options = request.getOptions()
    if (options) change(options)
    return request
  }
  const position = (commit: bigint, prepare: bigint) => (options: ReadReq.Options) =>
    options
      .getAll()
      ?.setPosition(
        new streams.ReadReq.Options.Position().setCommitPosition(String(commit)).setPreparePosition(String(prepare)),
      )
  const filter: RawFilter = { by: 'stream', prefixes: ['x'] }
  const end = (1n << 64n) - 1n
  const table: [string, ReadReq, string][] = [
    ['an invalid expression', changed({ filter: { by: 'type', regex: '(' } }), 'UNKNOWN'],
    [
      'a filter of nothing',
      changed({ filter }, (options) => options.getFilter()?.clearStreamIdentifier()),
      'INVALID_ARGUMENT',
    ],
    [
      'a filter without a window',
      changed({ filter }, (options) => options.getFilter()?.clearCount()),
      'INVALID_ARGUMENT',
    ],
    ['a subscription without an interval', changed({ filter: { ...filter, interval: 0 }, count: null }), 'UNKNOWN'],
    ['a subscription backwards', changed({ filter, count: null, backwards: true }), 'INVALID_ARGUMENT'],
    ['neither count nor subscription', changed({}, (options) => options.clearCount()), 'INVALID_ARGUMENT'],
    ['a commit before its prepare', changed({}, position(at(0), at(0) + 1n)), 'UNKNOWN'],
    ['a position of 64 bits', changed({}, position(1n << 63n, 0n)), 'UNKNOWN'],
    ['half an end', changed({}, position(end, 0n)), 'UNKNOWN'],
  ]
  for (const [what, request, code] of table) {
    t.same(await readMessages(raw, request), { messages: [], failed: { code, trailers: {} } }, what)
  }
  t.same(
    await readMessages(
      raw,
      changed({}, (options) => options.getAll()?.clearPosition()),
    ),
    { messages: [], ...(isKurrentDb ? { failed: { code: 'UNKNOWN', trailers: {} } } : {}) },
  )
  t.same(await readMessages(raw, changed({}, position(end, end))), { messages: [] }, 'both numbers at the end')
  const noInterval = await readMessages(raw, changed({ filter: { ...filter, interval: 0 } }))
  t.notOk(noInterval.failed, 'a read needs no interval')
})

t.test('internal streams of EventStoreDB are left out of log reads', async (t) => {
  const { at, run } = await appendSamples()
  const hidden = [`$persistentsubscription-$all::${run}-checkpoint`, `$persistentsubscription-$all::${run}-parked`]
  const seen = [`$persistentsubscription-$all::${run}-other`, `$persistentsubscription-${run}-parked`]
  for (const stream of [...hidden, ...seen]) {
    t.equal((await appendEitherWay(raw, 'Append', { stream, events: [{ data: stream }] })).word, 'revision 0')
    t.same(await namesRead({ stream, from: 'start' }), [stream], 'readable by name')
  }
  const inLog = await namesRead({ from: at(0), count: everything })
  t.same(typeof inLog === 'string' ? inLog : inLog.filter((name) => name.includes(`${run}-`)), seen)
  t.same(await namesRead({ from: at(0), filter: { by: 'stream', regex: `${run}-(checkpoint|parked|other)` } }), seen)
})

t.test('the client reads equal commit and prepare positions', async (t) => {
  const { run, names, at } = await appendSamples()
  const position: Position = { commit: at(2), prepare: at(2) }
  const forwards: string[] = []
  for await (const { event, commitPosition } of client.readAll({
    direction: FORWARDS,
    fromPosition: position,
    maxCount: everything,
  })) {
    const name = Buffer.from(event?.data instanceof Uint8Array ? event.data : []).toString()
    if (name.startsWith(run)) forwards.push(name)
    t.same([event?.position?.commit, event?.position?.prepare], [commitPosition, commitPosition])
  }
  t.same(forwards, names(2, 3, 4))
  const ends: bigint[] = []
  for await (const { event } of client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })) {
    ends.push(event?.position?.commit ?? 0n)
  }
  t.equal(ends.length, 1)
  t.ok(ends.every((end) => end >= at(4)))
})
