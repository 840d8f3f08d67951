// The campaign as the sandbox provider: it decides how acknowledged payments end, and keeps their books.
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Intent } from '../judge/observations.ts'
import { type CampaignProvider, once, type ProviderContext } from './provider.ts'
import { sandboxOutcome } from './settings.ts'

export function createCampaignSandbox({ random, notifier }: ProviderContext): CampaignProvider {
  const secret = randomBytes(24).toString('hex')
  const books: Intent[] = []
  return {
    env: { SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: secret },
    faults: {},
    books: () => [...books],
    pay: once(({ payment_id, intent_id: id, amount_cents, currency }) => {
      const outcome = random.weighted(sandboxOutcome)
      const isPaid = outcome === 'succeeded'
      books.push({
        ...{ provider: 'sandbox', id, payment_id, key: null, amount_cents, currency, is_foreign: false },
        status: isPaid || outcome === 'canceled' ? outcome : 'open',
        failures: outcome === 'failed' ? 1 : 0,
        charges: isPaid ? 1 : 0,
        received_cents: isPaid ? amount_cents : 0,
        // The sandbox refunds without asking anybody.
        refunded_cents: null,
      })
      if (outcome === 'none') return
      const type = `payment_intent.${outcome}`
      const object = { id, amount: amount_cents, currency: currency.toLowerCase(), status: outcome, customer: null }
      const event = { id: `evt_${randomUUID()}`, type, created: nowSeconds(), data: { object } }
      const body = JSON.stringify(event)
      notifier.send({ id: event.id, provider: 'sandbox', type }, () => {
        const at = nowSeconds()
        const digest = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
        return { headers: { 'content-type': 'application/json', 'sandbox-signature': `t=${at},v1=${digest}` }, body }
      })
    }),
    look: () => undefined,
    setRunning: () => undefined,
    busy: () => 0,
  }
}

const nowSeconds = () => Math.floor(Date.now() / 1000)
