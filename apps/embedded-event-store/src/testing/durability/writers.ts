// The load: writers with many appends, deletions and metadata changes in flight.
import { randomUUID } from 'node:crypto'
import { ANY, type JSONEventData, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import type { SeededRandom } from './seededRandom.ts'
import { append, type Expectation, remove, type Sender } from './sending.ts'

const unaryShare = 0.25
const largeBytes = 60_000

/** The number of writers of each kind. */
export type WriterCounts = {
  /** Each on its own streams: appends, metadata, deletions, and appends that must be rejected. */
  readonly owners: number
  /** Sharing a few streams with expected revision `any`, several appends at a time. */
  readonly sharers: number
  /** Sharing one stream with the same exact expected revision: all but one are rejected. */
  readonly racers: number
}

export const ownPrefix = 'own-'
export const sharedStream = (index: number) => `shared-${index}`
export const raceStream = 'race-0'
const sharedStreams = 3
const sharersAppends = 3

export type Load = {
  /** Waits until all outcomes are certain. */
  stop(): Promise<void>
}

/** Starts writers, spread over the senders. */
export function startWriters(senders: readonly Sender[], writerCounts: WriterCounts, random: SeededRandom): Load {
  let running = true
  const isRunning = () => running
  const kinds = [
    ...Array.from({ length: writerCounts.owners }, () => ownStreams),
    ...Array.from({ length: writerCounts.sharers }, () => sharedStreamsOfAll),
    ...Array.from({ length: writerCounts.racers }, () => race),
  ]
  const writers = kinds.map((work, index) => {
    const sender = senders[index % senders.length]
    if (sender === undefined) throw new Error('no sender for the writers')
    return work({ sender, name: String(index), random: random.fork(`writer ${index}`), isRunning })
  })
  const done = Promise.all(writers)
  // Awaited when the load is stopped.
  done.catch(() => undefined)
  return {
    async stop() {
      running = false
      await done
    },
  }
}

type Writer = {
  readonly sender: Sender
  readonly name: string
  readonly random: SeededRandom
  readonly isRunning: () => boolean
}

async function ownStreams(writer: Writer): Promise<void> {
  for (let count = 0; writer.isRunning(); count += 1) {
    await ownStream(writer, `${ownPrefix}${writer.name}-${count}`, writer.random.between(1, 12))
  }
}

async function ownStream(writer: Writer, stream: string, steps: number): Promise<void> {
  const { sender, random, isRunning } = writer
  const { journal } = sender
  const deletion = { stream, events: [], revives: false }
  let revision = await appendMine(writer, stream, NO_STREAM)
  for (let step = 0; step < steps && isRunning(); step += 1) {
    const dice = random.between(1, 100)
    if (dice <= 8) await describe(writer, stream)
    else if (dice <= 16) await appendWrongly(writer, stream, revision)
    else if (dice <= 22) {
      await remove(sender, journal.begin({ kind: 'delete', ...deletion }), revision)
      if (random.chance(0.3)) return
      revision = await appendMine(writer, stream, revision, true)
    } else if (dice <= 24) {
      return remove(sender, journal.begin({ kind: 'tombstone', ...deletion }), revision)
    } else revision = await appendMine(writer, stream, revision)
  }
}

/** An append that must succeed. */
async function appendMine(
  { sender, random }: Writer,
  stream: string,
  expected: Expectation,
  revives = false,
): Promise<bigint> {
  const attempt = sender.journal.begin({ kind: 'append', stream, events: newEvents(random), revives })
  const result = await append(sender, attempt, { expected, unary: random.chance(unaryShare) })
  if ('revision' in result) return result.revision
  sender.journal.surprise(`the append to ${stream} at ${expected} was rejected: it is at ${result.rejected}`)
  throw new Error(`${stream} is at an unexpected revision`)
}

/** A metadata event with its own id, so that it can be repeated like any append. */
async function describe({ sender, random }: Writer, stream: string): Promise<void> {
  const events = [jsonEvent({ id: randomUUID(), type: '$metadata', data: { note: random.between(1, 1_000) } })]
  const attempt = sender.journal.begin({ kind: 'append', stream: `$$${stream}`, events, revives: false })
  const result = await append(sender, attempt, { expected: ANY, unary: false })
  if (!('revision' in result)) sender.journal.surprise(`the metadata of ${stream} was rejected`)
}

async function appendWrongly({ sender, random }: Writer, stream: string, revision: bigint): Promise<void> {
  const { journal } = sender
  const attempt = journal.begin({ kind: 'append', stream, events: newEvents(random), revives: false })
  const expected = random.chance(0.5) ? NO_STREAM : revision + BigInt(random.between(1, 5))
  const result = await append(sender, attempt, { expected, unary: random.chance(unaryShare) })
  if ('revision' in result) journal.surprise(`the append to ${stream} at ${expected} was accepted`)
}

async function sharedStreamsOfAll({ sender, random, isRunning }: Writer): Promise<void> {
  while (isRunning()) {
    const appends = Array.from({ length: sharersAppends }, async () => {
      const stream = sharedStream(random.between(0, sharedStreams - 1))
      const attempt = sender.journal.begin({ kind: 'append', stream, events: newEvents(random), revives: false })
      const result = await append(sender, attempt, { expected: ANY, unary: random.chance(unaryShare) })
      if (!('revision' in result)) sender.journal.surprise(`the append to ${stream} at any revision was rejected`)
    })
    await Promise.all(appends)
  }
}

async function race({ sender, random, isRunning }: Writer): Promise<void> {
  let expected: Expectation = NO_STREAM
  while (isRunning()) {
    const intent = { kind: 'append', stream: raceStream, events: newEvents(random), revives: false } as const
    const result = await append(sender, sender.journal.begin(intent), { expected, unary: random.chance(unaryShare) })
    expected = 'revision' in result ? result.revision : (result.rejected ?? NO_STREAM)
  }
}

function newEvents(random: SeededRandom): JSONEventData[] {
  const count = random.chance(0.6) ? 1 : random.between(2, 6)
  return Array.from({ length: count }, (_, index) => {
    const filler = 'x'.repeat(random.chance(0.01) ? largeBytes : random.between(0, 300))
    return jsonEvent({ id: randomUUID(), type: 'Written', data: { index, of: count, filler } })
  })
}
