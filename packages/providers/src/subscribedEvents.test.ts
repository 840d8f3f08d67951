// The set-up page names the events to subscribe to, literally, because a dashboard has them in a list.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { genericNames } from './genericEvent.ts'
import { providerPlugins } from './registry.ts'

const page = readFileSync(new URL('../../../docs/providers.md', import.meta.url), 'utf8')

/** Types without a generic name of their own that change something here. */
const others = {
  stripe: ['invoice.paid', 'charge.refunded', 'refund.failed', 'charge.dispute.closed', 'customer.subscription.paused'],
  paypal: [
    'PAYMENT.SALE.COMPLETED',
    'PAYMENT.CAPTURE.REVERSED',
    'CHECKOUT.ORDER.APPROVED',
    'CUSTOMER.DISPUTE.RESOLVED',
  ],
}

t.test('the set-up page names every event of Stripe and PayPal that is used, and no pattern', async (t) => {
  for (const [provider, more] of Object.entries(others)) {
    const { nativeTypes } = providerPlugins[provider as keyof typeof others].format
    const own = [...nativeTypes.values()].filter((type) => !genericNames.includes(type) || type.startsWith('payment_'))
    // Creating the order is a call of ours, which PayPal does not notify.
    for (const type of [...own, ...more].filter((each) => each !== 'CHECKOUT.ORDER.CREATED'))
      t.match(page, `\`${type}\``, type)
  }
  t.notMatch(page, /`(?:payment_intent|charge|refund|customer|invoice|payment_method)\.[a-z_.]*\*`/)
})
