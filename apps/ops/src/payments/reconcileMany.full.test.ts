// `payments reconcile` on a log with more than a thousand payments.
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { paymentsHarness } from '../testing/paymentsHarness.ts'
import { jsonLines } from '../testing/runOps.ts'

const total = 1_680
const atOnce = 40
const recentEvery = 8
const paidEvery = 48
const dayMs = 24 * 3_600_000

t.test('more than a thousand payments are read in little memory and checked in the order of the log', async (t) => {
  const [payments, fake] = await Promise.all([paymentsHarness(t), startFakeStripe(t)])
  // The largest metadata that a client may send. All of it together exceeds the memory limit of the command.
  const metadata = { note: 'x'.repeat(16_000) }
  const paid = new Set<string>()
  const addOne = async (number: number) => {
    const isRecent = number % recentEvery === 0
    const intent = fake.openIntent({ amount: 2200, currency: 'eur' })
    const occurred_at = new Date(Date.now() - (isRecent ? 1 : 3) * dayMs).toISOString()
    const id = await payments.record('stripe', intent.id, { metadata, occurred_at })
    if (number % paidEvery !== 0) return
    fake.pay(intent.id, 'succeeded')
    paid.add(id)
  }
  for (let from = 0; from < total; from += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, n) => addOne(from + n)))
  const order: string[] = []
  for await (const event of payments.store.readLog({ prefixes: ['payment-'] }))
    if (event.type === 'PaymentInitiated' && paid.has(event.data.payment_id)) order.push(event.data.payment_id)

  const run = await payments.start(['payments', 'reconcile', '--since', '2d', '--json'], {
    ...fake.env,
    // A young generation of the usual size would leave so little of this heap that most of the time goes into collecting it.
    NODE_OPTIONS: '--max-old-space-size=50 --max-semi-space-size=1',
  }).ended
  t.equal(run.code, 0, run.stderr)
  const lines: { payment_id?: string }[] = jsonLines(run)
  const checked = total / recentEvery
  t.match(lines.pop(), { complete: true, payments: checked, findings: { same: checked - paid.size, late: paid.size } })
  t.same(
    lines.map(({ payment_id }) => payment_id),
    order,
  )
  t.equal(order.length, total / paidEvery)
})
