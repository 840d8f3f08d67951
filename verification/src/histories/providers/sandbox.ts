// The sandbox: the product's own, with a memory behind the network.
import { ProviderError } from '@paylog/providers/provider'
import type { SandboxIntent } from '@paylog/providers/sandbox/intent'
import type { SandboxMemory } from '@paylog/providers/sandbox/memory'
import { readNotification, remember, signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import type { SignedEvent } from '@paylog/testing/fakeServer'
import { type Books, type Paid, type ProviderAct, possible, stateOf, sum } from '../books.ts'
import { runningProcess } from '../scheduler.ts'
import { world } from '../simulatedBuiltins.ts'
import { countAnswer } from '../simulatedNetwork.ts'

/** The sandbox has no server: all processes share its memory, which they reach over the network. */
export async function openSandbox(): Promise<Books> {
  const intents = new Map<string, SandboxIntent>()
  const disputes = new Map<string, 'open' | 'won' | 'lost'>()
  const notifications: { readonly what: string; readonly sign: () => SignedEvent }[] = []
  const near = sandboxMemory(intents, async (_what, _isRead, act) => act())
  let lastSecond = 0

  /** Something has happened at the sandbox, and it notifies us of it. */
  function report(type: string, object: object): void {
    // Of two reports within a second the order would be unknown.
    lastSecond = Math.max(lastSecond + 1, Math.floor(Date.now() / 1_000))
    const event = { id: `sandbox_evt_${notifications.length + 1}`, type, provider: 'sandbox', created: lastSecond }
    const body = JSON.stringify({ ...event, data: { object } })
    void remember(near, readNotification(Buffer.from(body)))
    notifications.push({ what: type, sign: () => signed(body) })
  }

  const intentsOf = (id: string) => [...intents.values()].filter(({ payment_id }) => payment_id === id)

  function act(what: ProviderAct, { payment_id, isManual }: Paid, flavour: number): void {
    const intent = intentsOf(payment_id).find(({ status }) => status !== 'canceled')
    if (intent === undefined) throw new Error('nothing to act on')
    const { provider_intent_id: id, amount_cents: amount, currency, status, received_cents, refunds } = intent
    const isPaid = status === 'succeeded'
    const money = { amount, currency: currency.toLowerCase() }
    const told = (type: string, more: object) =>
      report(type, { id, ...money, customer: null, metadata: { payment_id }, ...more })
    const about = (object: object) => ({ payment_intent: id, currency: money.currency, ...object })
    if (!isPaid && what === 'pay') {
      if (isManual) told('payment_intent.processing', { status: 'requires_capture', amount_capturable: amount })
      else if (flavour % 2) told('payment_intent.processing', { status: 'approved' })
      else told('payment_intent.succeeded', { status: 'succeeded' })
    } else if (!isPaid && what === 'fail') told('payment_intent.failed', { status: 'failed' })
    else if (!isPaid && what === 'cancel elsewhere') told('payment_intent.canceled', { status: 'canceled' })
    else if (!isPaid && what === 'begin to pay') told('payment_intent.processing', { status: 'processing' })
    else if (status === 'processing' && intent.capturable_cents === 0 && what === 'complete')
      told('payment_intent.succeeded', { status: 'succeeded' })
    else if (isPaid && what === 'end a refund') {
      const refund = refunds.find((each) => each.status === 'pending' || each.status === 'succeeded')
      if (refund === undefined) throw new Error('no refund')
      const { provider_refund_id, refund_id, amount_cents } = refund
      const end = { amount: amount_cents, status: 'failed', failure_code: 'account_closed', metadata: { refund_id } }
      report('refund.updated', about({ id: provider_refund_id, ...end }))
    } else if (isPaid && what === 'dispute' && !disputes.has(payment_id)) {
      disputes.set(payment_id, 'open')
      report('dispute.created', about({ id: `dp_${id}`, amount: received_cents, status: 'needs_response' }))
    } else if (what === 'end a dispute' && disputes.get(payment_id) === 'open') {
      const end = flavour % 2 ? 'won' : 'lost'
      disputes.set(payment_id, end)
      report('dispute.closed', about({ id: `dp_${id}`, amount: received_cents, status: end }))
    } else throw new Error('nothing to act on')
  }

  return {
    createProvider: () => createSandbox({ webhookSecrets: [secret], memory: sandboxMemory(intents, overTheNetwork) }),
    act: (what, paid, flavour) => possible(() => act(what, paid, flavour)),
    notifications,
    accountOf(payment_id) {
      const all = intentsOf(payment_id)
      const paid = all.filter(({ status }) => status === 'succeeded')
      const counted = all.flatMap(({ refunds }) => refunds.filter(({ status }) => status !== 'failed'))
      const given = counted.filter(({ status }) => status === 'succeeded')
      const isAuthorized = all.some(({ capturable_cents }) => capturable_cents > 0)
      const dispute = disputes.get(payment_id)
      return {
        state: isAuthorized
          ? 'authorized'
          : stateOf(
              all.map(({ status }) => status),
              sandboxStates,
            ),
        charges: paid.length,
        received_cents: sum(paid.map(({ received_cents }) => received_cents)),
        refunded_cents: sum(given.map(({ amount_cents }) => amount_cents)),
        refunds: counted,
        disputes: dispute ? [dispute] : [],
        payable: all.filter(({ status }) => status !== 'canceled').length,
      }
    },
  }
}

const secret = 'sandbox-secret'

function signed(body: string): SignedEvent {
  const signature = signSandboxEvent(secret, body, Math.floor(Date.now() / 1_000))
  return { headers: { 'sandbox-signature': signature }, body }
}

const sandboxStates = { succeeded: 'paid', processing: 'processing', canceled: 'canceled' } as const

type Reach = <Result>(what: string, isRead: boolean, act: () => Result) => Promise<Result>

function sandboxMemory(intents: Map<string, SandboxIntent>, reach: Reach): SandboxMemory {
  const all = () => [...intents.values()]
  return {
    read: (id) => reach('reads an intent', true, () => intents.get(id)),
    ofPayment: (id) => reach('searches intents', true, () => all().filter(({ payment_id }) => payment_id === id)),
    add: (intent) =>
      reach('creates an intent', false, () => {
        if (intents.has(intent.provider_intent_id)) return
        intents.set(intent.provider_intent_id, intent)
        world().states.changed('provider', JSON.stringify(intent))
      }),
    update: (id, change) =>
      reach('changes an intent', false, () => {
        const known = intents.get(id)
        const changed = known && change(known)
        if (changed) {
          intents.set(id, changed)
          world().states.changed('provider', JSON.stringify(changed))
        }
        return changed
      }),
    close: async () => undefined,
  }
}

const overTheNetwork: Reach = (does, isRead, act) => {
  const owner = runningProcess()
  const what = `${owner?.name} ${does} at the sandbox`
  return new Promise((resolve, reject) => {
    const run = () => {
      const fault = world().fault(what, ['the request is lost', 'the response is lost'], 150)
      const lost = () => reject(new ProviderError('unknown', 'timeout', 'The sandbox did not respond'))
      let answer = lost
      try {
        if (fault !== 'the request is lost') {
          const result = act()
          countAnswer(`sandbox ${does}`)
          if (fault === undefined) answer = () => resolve(result)
        }
      } catch (error) {
        if (fault === undefined) answer = () => reject(error)
      }
      world().send(`response to: ${what}`, owner, answer)
    }
    world().add({ what, owner, on: 'provider', isRead, run })
  })
}
