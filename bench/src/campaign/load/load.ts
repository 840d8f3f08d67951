// The load of a campaign: clients, payers, providers and webhook endpoints, with a record of everything that they saw.
import { setTimeout as pause } from 'node:timers/promises'
import type { Seen, Urls } from '../judge/observations.ts'
import { createRandom } from '../random.ts'
import { createClients } from './clients.ts'
import { startEndpoint } from './endpoints.ts'
import { createNotifier } from './notifier.ts'
import { createCampaignSandbox } from './sandbox.ts'
import { startCampaignStripe } from './stripe.ts'

export type Load = {
  /** Variables of all apps: providers, their credentials, and the webhook endpoints. */
  readonly env: Readonly<Record<string, string>>
  /** Begins, once. */
  start(urls: Urls): void
  /** Begins no new operations and ends the providers' faults; resolves when all clients, payers and notifications are done. */
  pause(): Promise<void>
  resume(): void
  /** Operations, payers and notifications under way. */
  busy(): number
  /** Webhooks received so far. */
  received(): number
  /** Everything that clients, payers, providers and endpoints saw so far. */
  seen(): Seen
}

const operationPauseMs = [60, 340] as const
const foreignShare = 0.06
const inFlightLimit = 60
/** How long clients go on repeating their requests after a pause began. */
const finishMs = 60_000
const pollMs = 50

/** @param stack ends everything */
export async function prepareLoad(stack: AsyncDisposableStack, { seed }: { readonly seed: number }): Promise<Load> {
  const over = new AbortController()
  stack.defer(async () => over.abort())
  const gate = createGate()
  const stripe = await startCampaignStripe(stack, seed)
  const endpoint = await startEndpoint(stack, createRandom(seed, 'endpoint'))
  const commandUrls: string[] = []
  const notifier = createNotifier({
    urls: commandUrls,
    random: createRandom(seed, 'notifications'),
    over: over.signal,
  })
  const sandbox = createCampaignSandbox(createRandom(seed, 'sandbox'), notifier)
  const acknowledged: string[] = []
  const clients = createClients({
    urls: commandUrls,
    random: createRandom(seed, 'clients'),
    hasToEnd: () => over.signal.aborted || gate.hasToEnd(),
    over: over.signal,
    onAcknowledged({ provider, amount_cents, currency }, { id, provider_intent_id }) {
      acknowledged.push(id)
      if (provider === 'sandbox' && provider_intent_id !== null)
        sandbox.settle({ id: provider_intent_id, payment_id: id, amount_cents, currency })
    },
  })
  const busy = () => clients.busy() + notifier.pending() + stripe.payersBusy()

  async function run(): Promise<void> {
    const random = createRandom(seed, 'load')
    for (; !over.signal.aborted; await pause(random.between(...operationPauseMs))) {
      await gate.opened()
      if (clients.busy() < inFlightLimit) clients.begin()
      if (random.isIn(foreignShare)) stripe.foreignPayment(acknowledged)
    }
  }

  return {
    env: { ...stripe.env, ...sandbox.env, ...endpoint.env },
    start(urls) {
      commandUrls.push(...urls.command)
      stripe.notify(notifier)
      void run()
    },
    async pause() {
      gate.close()
      stripe.stopFaults()
      while (busy() > 0 && !over.signal.aborted) await pause(pollMs)
    },
    resume() {
      stripe.resumeFaults()
      gate.open()
    },
    busy,
    received: () => endpoint.received.length,
    seen: () => ({
      requests: clients.requests,
      intents: [...stripe.books(), ...sandbox.books()],
      notifications: notifier.notifications,
      webhooks: endpoint.received,
      provider_faults: { ...stripe.faults },
    }),
  }
}

/** What new operations wait at. Closed for `finishMs`, it also ends the repetitions of those under way. */
function createGate() {
  let closed: PromiseWithResolvers<void> | undefined
  let closedAt = 0
  return {
    close() {
      closed ??= Promise.withResolvers()
      closedAt = performance.now()
    },
    open() {
      closed?.resolve()
      closed = undefined
    },
    opened: async () => await closed?.promise,
    hasToEnd: () => closed !== undefined && performance.now() - closedAt > finishMs,
  }
}
