import t, { type Test } from 'tap'
import { createChargeLedger, type LedgerCharge } from './fakeServer.ts'

/** A test whose end is triggered by `end`. */
function endingTest() {
  const teardowns: (() => void)[] = []
  const test: Pick<Test, 'teardown'> = { teardown: (handler) => void teardowns.push(handler as () => void) }
  return { test, end: () => teardowns.forEach((teardown) => void teardown()) }
}

const charge: LedgerCharge = {
  charge_id: 'ch_1',
  intent_id: 'pi_1',
  payment_id: 'p1',
  amount_cents: 100,
  currency: 'eur',
}
const again: LedgerCharge = { ...charge, charge_id: 'ch_2', intent_id: 'pi_2' }

t.test('the charge ledger fails a test in which a payment was charged twice', async (t) => {
  const { test, end } = endingTest()
  const ledger = createChargeLedger(test)
  ledger.add(charge)
  ledger.add({ ...again, payment_id: 'p2' })
  t.doesNotThrow(end)
  ledger.add(again)
  t.throws(end, /Charged more than once.*ch_1.*ch_2/)
})

t.test('the charge ledger accepts double charges with allowDouble, and of foreign payments', async (t) => {
  const allowed = endingTest()
  const ledger = createChargeLedger(allowed.test, { allowDouble: true })
  for (const one of [charge, again]) ledger.add(one)
  t.doesNotThrow(allowed.end)
  const foreign = endingTest()
  const others = createChargeLedger(foreign.test)
  for (const one of [charge, again]) others.add({ ...one, payment_id: null })
  t.doesNotThrow(foreign.end)
})
