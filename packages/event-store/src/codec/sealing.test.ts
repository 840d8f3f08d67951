// Sealing the marked fields of an event, and opening them with the keys that are still there.
import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { PersonalText, Sealed } from '@paylog/domain/personalData'
import t from 'tap'
import { Type } from 'typebox'
import { KeysNeededError, keyIdsIn, SealBrokenError, seal, sealedFieldsOf, unseal } from './sealing.ts'

const keyOf = (id: string) => ({ id, key: createSecretKey(createHash('sha256').update(id).digest()) })
const [person, day] = [keyOf('key-1'), keyOf('key-of-the-day')]
const event = { stream: 'payment-1', id: 'event-1', type: 'Example' }

const fields = sealedFieldsOf(
  Type.Object({
    amount: Type.Integer(),
    payer: Type.Object({ id: Type.String(), email: PersonalText }),
    note: PersonalText,
    return_url: Type.Optional(PersonalText),
    changes: Type.Optional(Type.Partial(Type.Object({ name: PersonalText, kind: Type.String() }))),
    metadata: Sealed('personal', Type.Object({})),
    body: Sealed('body', Type.String()),
  }),
)

const full = {
  amount: 5,
  payer: { id: 'u1', email: 'ann@example.com' },
  note: 'for Ann',
  return_url: 'https://shop.example.com/ann',
  changes: { name: null, kind: 'home' },
  metadata: { seat: '12A' },
  body: 'raw text of Ann',
}

const sealed = (data: object): object =>
  JSON.parse(
    JSON.stringify(seal({ fields, always: [] }, data, (part) => (part === 'body' ? [person, day] : [person]), event)),
  )
const opened = (data: unknown, known: (id: string) => KeyObject | null | undefined, of = event) =>
  unseal(fields, data, known, of)
const all = (id: string) => keyOf(id).key
const without = (lost: string) => (id: string) => (id === lost ? null : all(id))

t.test('a sealed event shows none of the marked values and opens to the same data', async (t) => {
  const stored = sealed(full)
  t.notMatch(JSON.stringify(stored), /ann@|\/ann|for Ann|of Ann|"12A"/)
  t.match(stored, { amount: 5, payer: { id: 'u1' }, changes: { kind: 'home' } })
  t.same(keyIdsIn(stored), [person.id, person.id, day.id])
  t.same(opened(stored, all), { data: full, sealed: { personal: [person.id], body: [person.id, day.id] } })
})

t.test(
  'after the key of a person was destroyed every marked field is null, and optional ones are absent',
  async (t) => {
    const { data, sealed: keys } = opened(sealed(full), without(person.id))
    const rest = { amount: 5, payer: { id: 'u1', email: null }, changes: { kind: 'home' } }
    t.strictSame(data, { ...rest, note: null, metadata: null, body: null })
    t.same(keys, { personal: [person.id], body: [person.id, day.id] }, 'the keys that it needed are still known')
  },
)

t.test('after the key of a day was destroyed only what it sealed is null', async (t) => {
  t.strictSame(opened(sealed(full), without(day.id)).data, { ...full, body: null })
})

t.test('values that are all null need no key, and a null of an optional field is kept', async (t) => {
  const empty = { amount: 5, payer: { id: 'u1', email: null }, note: null, metadata: null, body: null }
  const stored = sealed(empty)
  t.strictSame(stored, { amount: 5, payer: { id: 'u1' } })
  t.strictSame(opened(stored, () => undefined).data, empty)
  const cleared = { ...empty, changes: { name: null } }
  t.strictSame(opened(sealed(cleared), all).data, cleared)
})

t.test('a sealed part that was changed, or moved to another event, cannot be opened', async (t) => {
  const stored = sealed(full)
  for (const other of [{ stream: 'payment-2' }, { id: 'event-2' }, { type: 'Other' }])
    t.throws(() => opened(stored, all, { ...event, ...other }), SealBrokenError)
  const text = JSON.stringify(stored)
  const flipped = text.replace(/("text":"[^"]{40})(.)/, (_, before, at) => `${before}${at === 'A' ? 'B' : 'A'}`)
  t.throws(() => opened(JSON.parse(flipped), all), SealBrokenError)
  const swapped = text.replace('"personal"', '"secret"')
  t.throws(() => opened(JSON.parse(swapped), all), SealBrokenError)
})

t.test('a key that is not loaded is asked for', async (t) => {
  t.throws(() => opened(sealed(full), () => undefined), KeysNeededError)
})

t.test('the same event is sealed differently each time, and a long text is compressed', async (t) => {
  t.not(JSON.stringify(sealed(full)), JSON.stringify(sealed(full)))
  const long = { ...full, body: JSON.stringify({ text: 'ab"'.repeat(200_000) }) }
  t.ok(JSON.stringify(sealed(long)).length < 20_000)
  t.strictSame(opened(sealed(long), all).data, long)
})

t.test('a text that was sealed by an earlier version opens', async (t) => {
  const stored = {
    amount: 5,
    payer: { id: 'u1' },
    $sealed: {
      personal: {
        keys: ['key-1'],
        text: '/Nk0RU54kY0Rx1tbWFIPT0JTmAlMJ+Bw6A+/bCnITwL0ndjdl+ypp7peqNjtFFAsLSfvRmRpVK50r0NdbZ8O1yV2Lux15kPsBjFGChApr9VJVtg=',
      },
    },
  }
  t.match(opened(stored, all).data, { payer: { id: 'u1', email: 'ann@example.com' }, note: 'for Ann' })
})
