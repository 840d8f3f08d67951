import t from 'tap'
import { type Static, Type } from 'typebox'
import { type FormerEvents, former } from './formerEvents.ts'

const V1 = Type.Object({ amount: Type.Number() })
const V2 = Type.Object({ amount_cents: Type.Integer() })
const V3 = Type.Object({ amount_cents: Type.Integer(), currency: Type.String() })
const tables = { Paid: V3, Refused: V3 }
const toV2 = ({ amount }: Static<typeof V1>) => ({ amount_cents: Math.round(amount * 100) })
const toV3 = ({ amount_cents }: Static<typeof V2>) => ({ amount_cents, currency: 'EUR' })

t.test('a former shape knows its schema, the way to the next one, and the shape before it', async (t) => {
  const table: FormerEvents<typeof tables> = { Paid: former(V2, toV3, former(V1, toV2)) }
  t.equal(table.Paid?.schema, V2)
  t.equal(table.Paid?.before?.schema, V1)
  t.equal(table.Paid?.before?.before, undefined)
  t.notOk('before' in former(V1, toV2))
})

t.test('the compiler refuses an upcaster that does not make the next shape', async (t) => {
  const broken: readonly FormerEvents<typeof tables>[] = [
    // @ts-expect-error it makes the second shape, and the newest is the third
    { Paid: former(V1, toV2) },
    // @ts-expect-error the shape before it makes the third one, and not its own
    { Paid: former(V1, () => ({ amount_cents: 1, currency: 'EUR' }), former(V2, toV3)) },
    // @ts-expect-error it takes something else than its schema says
    { Paid: former(V1, toV3) },
    // @ts-expect-error no event has this name
    { Paied: former(V2, toV3) },
  ]
  t.equal(broken.length, 4)
})
