import t from 'tap'
import { type Static, Type } from 'typebox'
import { type Upcasters, upcaster } from './recordedEvents.ts'

const V1 = Type.Object({ amount: Type.Number() })
const V2 = Type.Object({ amount_cents: Type.Integer() })
const V3 = Type.Object({ amount_cents: Type.Integer(), currency: Type.String() })
const tables = { Paid: V3, Refused: V3 }
const toV2 = ({ amount }: Static<typeof V1>) => ({ amount_cents: Math.round(amount * 100) })
const toV3 = ({ amount_cents }: Static<typeof V2>) => ({ amount_cents, currency: 'EUR' })

t.test('a former shape knows its schema, the way to the next one, and the shape before it', async (t) => {
  const table: Upcasters<typeof tables> = { Paid: upcaster(V2, toV3, upcaster(V1, toV2)) }
  t.equal(table.Paid?.schema, V2)
  t.equal(table.Paid?.before?.schema, V1)
  t.equal(table.Paid?.before?.before, undefined)
  t.notOk('before' in upcaster(V1, toV2))
})

t.test('the compiler refuses an upcaster that does not make the next shape', async (t) => {
  const broken: readonly Upcasters<typeof tables>[] = [
    // @ts-expect-error it makes the second shape, and the newest is the third
    { Paid: upcaster(V1, toV2) },
    // @ts-expect-error the shape before it makes the third one, and not its own
    { Paid: upcaster(V1, () => ({ amount_cents: 1, currency: 'EUR' }), upcaster(V2, toV3)) },
    // @ts-expect-error it takes something else than its schema says
    { Paid: upcaster(V1, toV3) },
    // @ts-expect-error no event has this name
    { Paied: upcaster(V2, toV3) },
  ]
  t.equal(broken.length, 4)
})
