// Encoding and decoding of events whose shape has changed, by older and newer program versions.

import { createSecretKey } from 'node:crypto'
import type { GuestTokenEvent } from '@paylog/domain/guestToken'
import { type RecordedDomainEvent, recordedEvents, type Upcasters, upcaster } from '@paylog/domain/recordedEvents'
import t from 'tap'
import { type Static, Type } from 'typebox'
import type { RawEvent } from '../read/rawEvent.ts'
import { createCodec } from './codec.ts'
import type { EventTables } from './shapes.ts'

const id = '0190a000-0000-7000-8000-000000000001'
const position = { commit: 70n, prepare: 70n, eventId: id }
const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'guest' }
const ids = { $correlationId: 'request-1', $causationId: 'request-1' }
/** The metadata of an event in the log. */
const storedMetadata = (schema: number) => ({ ...ids, actor: 'guest', schema })
const seen: GuestTokenEvent = {
  type: 'GuestTokenSeen',
  data: { guest_email: 'ann@example.com', occurred_at: '2026-01-02T03:04:05.678Z' },
}

const First = Type.Object({ email: Type.String(), seconds: Type.Integer() })
const Second = Type.Object({ email: Type.String(), seen_at: Type.String() })
const toSecond = ({ email, seconds }: Static<typeof First>) => ({ email, seen_at: new Date(seconds * 1000).toJSON() })
const toThird = ({ email, seen_at }: Static<typeof Second>) => ({ guest_email: email, occurred_at: seen_at })
const secondSeen = { email: 'ann@example.com', seen_at: seen.data.occurred_at }
const firstSeen = { email: 'ann@example.com', seconds: 1_767_323_045 }

const key = { id: '0190a000-0000-7000-8000-00000000000a', key: createSecretKey(Buffer.alloc(32, 7)) }

/** A program version with these tables, which seals every part with one key. */
function program(tables: EventTables) {
  const { encode, decode } = createCodec(tables)
  return {
    encode: (event: RecordedDomainEvent) =>
      encode(event, id, metadata, { stream: 'guestToken-1', keysOf: () => [key] }),
    decode: (event: RawEvent) => decode(event, (of) => (of === key.id ? key.key : undefined)),
  }
}
const programWith = (former: Upcasters<typeof recordedEvents>) => program({ current: recordedEvents, former })
const third = programWith({ GuestTokenSeen: upcaster(Second, toThird, upcaster(First, toSecond)) })

/** An event as it is in the log. */
const stored = (type: string, data: object, more: Partial<RawEvent> = {}): RawEvent => ({
  stream: 'guestToken-1',
  id,
  revision: 3n,
  type,
  created: new Date(0),
  position,
  contentType: 'application/json',
  data: bytesOf(data),
  metadata: bytesOf(storedMetadata(1)),
  ...more,
})
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const unreadable = (problem: string) => ({ name: 'UnreadableEventError', message: problem })
const where = (type: string) => `event ${id} (${type}, guestToken-1@3, position 70)`

t.test('encode writes the newest stored type and the schema version', async (t) => {
  const { type, data, metadata: written } = third.encode(seen)
  const { occurred_at } = seen.data
  t.match([type, data, written], ['GuestTokenSeen.v3', { occurred_at }, storedMetadata(3)])
  const second = programWith({ GuestTokenSeen: upcaster(Second, toThird) })
  t.match(second.encode(seen), { type: 'GuestTokenSeen.v2', metadata: { schema: 2 } })
  t.match(programWith({}).encode(seen), { type: 'GuestTokenSeen', metadata: { schema: 1 } })
})

t.test('decode upcasts an event from any stored shape to the newest', async (t) => {
  const firstTime = '2026-01-02T03:04:05.000Z'
  for (const [type, data, occurred_at] of [
    ['GuestTokenSeen', firstSeen, firstTime],
    ['GuestTokenSeen.v2', secondSeen, seen.data.occurred_at],
    ['GuestTokenSeen.v3', seen.data, seen.data.occurred_at],
  ] as const) {
    const { type: name, data: newest, metadata: kept, ...rest } = third.decode(stored(type, { ...data }))
    t.same([name, newest], ['GuestTokenSeen', { guest_email: 'ann@example.com', occurred_at }], type)
    t.same(kept, { ...metadata, schema: 1 }, 'metadata stays as recorded')
    t.same(rest, { id, stream: 'guestToken-1', revision: 3n, position, created: new Date(0), sealed: {} })
  }
})

t.test('an encoded event decodes to the same event', async (t) => {
  const { type, data, metadata: written } = third.encode(seen)
  const recorded = stored(type, data as object, { metadata: bytesOf(written) })
  t.match(third.decode(recorded), { ...seen, metadata: { ...metadata, schema: 3 }, sealed: { personal: [key.id] } })
  t.notMatch(JSON.stringify(data), 'ann@example.com')
})

t.test('decode checks each stored shape against its own schema', async (t) => {
  const problems = {
    GuestTokenSeen: 'does not fit its schema: data must have required properties seconds',
    'GuestTokenSeen.v2': 'does not fit its schema: data must have required properties seen_at',
    'GuestTokenSeen.v3': 'does not fit its schema: data must have required properties occurred_at',
  }
  for (const [type, problem] of Object.entries(problems))
    t.throws(() => third.decode(stored(type, { email: 'ann@example.com' })), unreadable(`${where(type)} ${problem}`))
})

t.test('an event whose upcaster throws is unreadable, and the error has the cause', async (t) => {
  const cause = new RangeError('no such time')
  const throwing = programWith({
    GuestTokenSeen: upcaster(
      Second,
      toThird,
      upcaster(First, (): Static<typeof Second> => {
        throw cause
      }),
    ),
  })
  const message = `${where('GuestTokenSeen')} could not be upcast to GuestTokenSeen.v2: no such time`
  const error = t.throws(() => throwing.decode(stored('GuestTokenSeen', firstSeen)), unreadable(message))
  t.match(error, { cause: { cause } })
  t.match(throwing.decode(stored('GuestTokenSeen.v2', secondSeen)), seen, 'the next shape still decodes')
})

t.test('an event whose upcaster returns invalid data is unreadable, at any step', async (t) => {
  const wrongEnd = programWith({
    GuestTokenSeen: upcaster(Second, ({ email }) => ({ guest_email: email, occurred_at: 'never' })),
  })
  t.throws(
    () => wrongEnd.decode(stored('GuestTokenSeen', secondSeen)),
    unreadable(
      `${where('GuestTokenSeen')} does not fit GuestTokenSeen.v2 after upcasting: /occurred_at must match format "date-time"`,
    ),
  )
  const Strict = Type.Object({ email: Type.String({ minLength: 1 }), seen_at: Type.String() })
  const wrongBetween = programWith({
    GuestTokenSeen: upcaster(
      Strict,
      toThird,
      upcaster(First, () => ({ email: '', seen_at: '2026-01-01T00:00:00Z' })),
    ),
  })
  t.throws(
    () => wrongBetween.decode(stored('GuestTokenSeen', firstSeen)),
    unreadable(
      `${where('GuestTokenSeen')} does not fit GuestTokenSeen.v2 after upcasting: /email must not have fewer than 1 characters`,
    ),
  )
})

t.test('an event of a later schema version is reported as written by a newer program version', async (t) => {
  const newer = (known: string) =>
    `was written by a newer version of this program: the latest shape known here is ${known}`
  const type = 'GuestTokenSeen.v9'
  t.throws(() => third.decode(stored(type, seen.data)), unreadable(`${where(type)} ${newer('GuestTokenSeen.v3')}`))
  t.throws(
    () => programWith({}).decode(stored(type, seen.data)),
    unreadable(`${where(type)} ${newer('GuestTokenSeen')}`),
  )
})

t.test('a stored type that is not a version of a known event is reported as unknown', async (t) => {
  const types = ['GuestTokenLost', 'GuestTokenLost.v2', 'GuestTokenSeen.v1', 'GuestTokenSeen.v03', 'GuestTokenSeen.v']
  for (const type of [...types, 'GuestTokenSeen.v2.v9', '.v2', '__proto__', 'constructor', ''])
    t.throws(() => third.decode(stored(type, seen.data)), unreadable(`${where(type)} has an unknown type`))
  const type = 'GuestTokenSeen.v1'
  const unchanged = programWith({})
  t.throws(() => unchanged.decode(stored(type, seen.data)), unreadable(`${where(type)} has an unknown type`))
})

t.test('an event that is not JSON or has no valid metadata is unreadable, in every shape', async (t) => {
  for (const [type, data] of Object.entries({ GuestTokenSeen: firstSeen, 'GuestTokenSeen.v3': seen.data })) {
    const binary = stored(type, data, { contentType: 'application/octet-stream' })
    t.throws(() => third.decode(binary), unreadable(`${where(type)} is not JSON`))
    const bare = stored(type, data, { metadata: bytesOf({ schema: 1 }) })
    t.throws(() => third.decode(bare), unreadable(`${where(type)} has no valid metadata`))
  }
})

t.test('createCodec rejects an event name that looks like a version of another event', async (t) => {
  const current = { ...recordedEvents, 'GuestTokenSeen.v2': First }
  t.throws(() => createCodec({ current, former: {} }), /GuestTokenSeen\.v2 cannot be an event name/)
})

t.test('encode rejects an event type that the program does not know', async (t) => {
  const other = program({ current: { GuestTokenLost: First }, former: {} })
  t.throws(() => other.encode(seen), /GuestTokenSeen cannot be recorded: unknown event type/)
})
