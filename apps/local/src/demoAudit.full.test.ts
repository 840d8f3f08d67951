import { readdirSync } from 'node:fs'
import t from 'tap'
import { startDemo } from './testing/demoProcess.ts'

const path = process.env.PATH

t.test(
  'the audit demo proves a payment also after its payer is erased, finds the row that was changed, and deletes its data',
  async (t) => {
    const demo = startDemo(t, { path, args: ['audit'] })
    const [code] = await demo.exited
    t.equal(code, 0, demo.output())
    t.match(
      demo.output(),
      /Proven by demo\.paylog\.example\/log, which signed the first \d+ events of its log: payment /,
    )
    t.match(demo.output(), /is succeeded, and has no e-mail any more\..*Proven by demo\.paylog\.example/s)
    t.match(
      demo.output(),
      /Position \d+: payment-[0-9a-f-]+@0 \(PaymentInitiated, id [0-9a-f-]+, position \d+\) was changed\./,
    )
    t.same(readdirSync(demo.directory), [])
  },
)

t.test('an unknown demo is named with those that exist', async (t) => {
  const demo = startDemo(t, { path, args: ['nothing'] })
  t.same(await demo.exited, [1, null])
  t.match(demo.output(), /There is no demo nothing\. There are: payment, audit\./)
})
