// The campaign as the sandbox provider: it settles acknowledged payments and keeps their books.
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Intent } from '../judge/observations.ts'
import type { Random } from '../random.ts'
import type { Notifier } from './notifier.ts'

export type CampaignSandbox = {
  readonly env: Readonly<Record<string, string>>
  books(): Intent[]
  /** Decides the outcome of a payment once and sends its notification. */
  settle(payment: Pick<Intent, 'id' | 'payment_id' | 'amount_cents' | 'currency'>): void
}

export function createCampaignSandbox(random: Random, notifier: Notifier): CampaignSandbox {
  const secret = randomBytes(24).toString('hex')
  const books = new Map<string, Intent>()
  return {
    env: { SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: secret },
    books: () => [...books.values()],
    settle(payment) {
      if (books.has(payment.id)) return
      const outcome = random.weighted({ succeeded: 70, failed: 14, canceled: 10, none: 6 })
      const status = outcome === 'succeeded' || outcome === 'canceled' ? outcome : 'open'
      const failures = outcome === 'failed' ? 1 : 0
      books.set(payment.id, { ...payment, provider: 'sandbox', key: null, status, failures, is_foreign: false })
      if (outcome === 'none') return
      const { id, amount_cents: amount, currency } = payment
      const object = { id, amount, currency: currency.toLowerCase(), status: outcome, customer: null }
      const event = {
        id: `evt_${randomUUID()}`,
        type: `payment_intent.${outcome}`,
        created: nowSeconds(),
        data: { object },
      }
      const body = JSON.stringify(event)
      notifier.send({ id: event.id, provider: 'sandbox', type: event.type, intent_id: id }, () => {
        const at = nowSeconds()
        const digest = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
        return { headers: { 'content-type': 'application/json', 'sandbox-signature': `t=${at},v1=${digest}` }, body }
      })
    },
  }
}

const nowSeconds = () => Math.floor(Date.now() / 1000)
