import { readActivity } from '@paylog/commands/provider-activity/activity'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { opsHarness } from '../testing/opsHarness.ts'

const [{ run, store, pool }, stripe, paypal] = await Promise.all([
  opsHarness(t),
  startFakeStripe(t),
  startFakePaypal(t),
])
const wrong = { ...paypal.env, PAYPAL_CLIENT_SECRET: 'another' }

t.test(
  'providers check prints what each enabled provider says, and fails unless all accept the credentials',
  async (t) => {
    t.match(await run(['providers', 'check'], stripe.env), {
      code: 0,
      stdout: 'Stripe accepts the credentials (test).\n',
    })
    const both = await run(['providers', 'check', '--reason', 'Ticket 4711'], { ...stripe.env, ...wrong })
    t.match(both, { code: 1, stderr: /Not every provider accepts our credentials/ })
    t.equal(
      both.stdout,
      'Stripe accepts the credentials (test).\nPayPal refuses the credentials: Client Authentication failed (test).\n',
    )
    t.match(
      (await recordedActions(store)).map(({ data }) => [data.target?.id, data.reason]),
      [
        ['stripe', null],
        ['stripe', 'Ticket 4711'],
        ['paypal', 'Ticket 4711'],
      ],
    )
    t.match(await readActivity(pool), [
      { provider_id: 'paypal', credentials_refusal: 'Client Authentication failed' },
      { provider_id: 'stripe', credentials_accepted_at: Date },
    ])
  },
)

t.test('providers check of a named provider asks only that one, and an unknown one is an error', async (t) => {
  const one = await run(['providers', 'check', 'stripe', '--json'], { ...stripe.env, ...wrong })
  t.match(JSON.parse(one.stdout), [{ provider: 'stripe', mode: 'test', ok: true, checked_at: /Z$/ }])
  t.match(await run(['providers', 'check', 'other'], stripe.env), { code: 1, stderr: /No provider with this id/ })
  t.match(await run(['providers', 'check']), { code: 1, stderr: /No provider is enabled/ })
})
