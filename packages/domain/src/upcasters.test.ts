import t from 'tap'
import { type Static, Type } from 'typebox'
import { type Upcasters, upcaster } from './recordedEvents.ts'

const V1 = Type.Object({ amount: Type.Number() })
const V2 = Type.Object({ amount_cents: Type.Integer() })
const V3 = Type.Object({ amount_cents: Type.Integer(), currency: Type.String() })
const tables = { Paid: V3, Rejected: V3 }
const toV2 = ({ amount }: Static<typeof V1>) => ({ amount_cents: Math.round(amount * 100) })
const toV3 = ({ amount_cents }: Static<typeof V2>) => ({ amount_cents, currency: 'EUR' })

t.test('an upcaster has its schema and the upcaster before it', async (t) => {
  const table: Upcasters<typeof tables> = { Paid: upcaster(V2, toV3, upcaster(V1, toV2)) }
  t.equal(table.Paid?.schema, V2)
  t.equal(table.Paid?.before?.schema, V1)
  t.equal(table.Paid?.before?.before, undefined)
  t.notOk('before' in upcaster(V1, toV2))
})

t.test('an upcaster that does not produce the next schema is a type error', async (t) => {
  const broken: readonly Upcasters<typeof tables>[] = [
    // @ts-expect-error it produces V2, and the newest is V3
    { Paid: upcaster(V1, toV2) },
    // @ts-expect-error the upcaster before it produces V3 instead of V2
    { Paid: upcaster(V1, () => ({ amount_cents: 1, currency: 'EUR' }), upcaster(V2, toV3)) },
    // @ts-expect-error its argument does not match its schema
    { Paid: upcaster(V1, toV3) },
    // @ts-expect-error no event has this type
    { Paied: upcaster(V2, toV3) },
  ]
  t.equal(broken.length, 4)
})
