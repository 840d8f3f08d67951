// The load of a campaign: clients, payers, providers and webhook endpoints, with a record of everything that they saw.
import { setTimeout as pause } from 'node:timers/promises'
import type { ProviderName, Seen, Urls } from '../judge/observations.ts'
import { createRandom, type Random } from '../random.ts'
import { startCampaignAuthorizeNet } from './authorizeNet.ts'
import { createClient, type Reply, type Resource } from './client.ts'
import { startEndpoints } from './endpoints.ts'
import { createNotifier, type Notifier } from './notifier.ts'
import { createOtherActivities } from './otherActivities.ts'
import { createPaymentActivity, createProbe, type NewPayment } from './payments.ts'
import { startCampaignPaypal } from './paypal.ts'
import type { CampaignProvider } from './provider.ts'
import { createCampaignSandbox } from './sandbox.ts'
import {
  endpoints,
  finishMs,
  foreignShare,
  maxInFlight,
  otherPauseMs,
  paymentPauseMs,
  reconcileAfter,
  usualLoad,
} from './settings.ts'
import { startCampaignStripe } from './stripe.ts'

export type Load = {
  /** Variables of all apps: providers, their credentials, webhook endpoints, and where checkpoints are published. */
  readonly env: Readonly<Record<string, string>>
  /** Begins, once. */
  start(urls: Urls): void
  /** Begins no new operations and ends the providers' faults; resolves when all clients, payers and notifications are done. */
  pause(): Promise<void>
  resume(): void
  /** Makes one payment, also while the load is paused. @returns its id, when the client got it */
  probe(): Promise<string | undefined>
  /** Whether a webhook about a payment has arrived. */
  isAnnounced(paymentId: string): boolean
  /** Operations, payers and notifications under way. */
  busy(): number
  /** Accepted writes and 503s since the last call. */
  takeReplies(): Reply[]
  /** Webhooks received so far. */
  received(): number
  /** Everything that clients, payers, providers and endpoints saw so far. */
  seen(): Seen
}

const pollMs = 25

/** @param stack ends everything @param options `load`: new payments a second */
export async function prepareLoad(
  stack: AsyncDisposableStack,
  { seed, load }: { readonly seed: number; readonly load: number },
): Promise<Load> {
  const over = new AbortController()
  stack.defer(async () => over.abort())
  const gate = createGate()
  const urls = { command: [] as readonly string[], query: '' }
  const receivers = await startEndpoints(stack, createRandom(seed, 'endpoints'))
  const notifier = createNotifier({ urls, random: createRandom(seed, 'notifications'), over: over.signal })
  const byName = await startProviders(stack, { seed, notifier })
  const providers: readonly CampaignProvider[] = Object.values(byName)
  const acknowledged: string[] = []
  const onAcknowledged = ({ provider, amount_cents, currency }: NewPayment, resource: Resource) => {
    const { id: payment_id, provider_intent_id: intent_id, client_secret } = resource
    acknowledged.push(payment_id)
    if (intent_id === null || client_secret === null) return
    byName[provider].pay({ payment_id, intent_id, client_secret, amount_cents, currency })
  }
  const hasToEnd = () => over.signal.aborted || gate.closedMs() > finishMs
  const client = createClient({ urls, random: createRandom(seed, 'clients'), hasToEnd, over: over.signal })
  const activity = (use: string) => ({ client, random: createRandom(seed, use), opened: gate.opened })
  const pay = createPaymentActivity({ ...activity('payments'), onAcknowledged })
  const probe = createProbe({ ...activity('probes'), onAcknowledged })
  const actOtherwise = createOtherActivities(activity('other activities'))
  const busy = () => client.busy() + notifier.pending() + providers.reduce((sum, each) => sum + each.busy(), 0)

  const look = () => {
    for (const each of providers) each.look()
  }

  async function repeat(act: () => Promise<void>, pauseMs: readonly [number, number], random: Random): Promise<void> {
    for (; !over.signal.aborted; await pause((random.between(...pauseMs) * usualLoad) / load)) {
      await gate.opened()
      if (client.busy() < maxInFlight) void act()
      if (act === pay && random.isIn(foreignShare)) byName.stripe.foreignPayment(acknowledged)
    }
  }

  return {
    env: {
      ...Object.assign({}, ...providers.map(({ env }) => env)),
      ...receivers.env,
      PAYMENT_RECONCILE_AFTER: reconcileAfter,
    },
    start({ command, query }) {
      Object.assign(urls, { command, query })
      const looking = setInterval(look, pollMs)
      stack.defer(async () => clearInterval(looking))
      void repeat(pay, paymentPauseMs, createRandom(seed, 'rate of payments'))
      void repeat(actOtherwise, otherPauseMs, createRandom(seed, 'rate of other activities'))
    },
    async pause() {
      gate.close()
      for (const each of providers) each.setRunning(false)
      while (busy() > 0 && !over.signal.aborted) await pause(pollMs)
    },
    resume() {
      for (const each of providers) each.setRunning(true)
      gate.open()
    },
    probe,
    isAnnounced: (paymentId) => receivers.received.findLast(({ payment_id }) => payment_id === paymentId) !== undefined,
    busy,
    takeReplies: client.takeReplies,
    received: () => receivers.received.length,
    seen: () => ({
      operations: client.operations,
      reads: client.reads,
      intrusions: client.intrusions,
      sightings: client.sightings,
      intents: providers.flatMap((each) => each.books()),
      notifications: notifier.notifications,
      endpoints,
      // Copies: more arrive while the judge reads the log.
      webhooks: [...receivers.received],
      checkpoints: [...receivers.checkpoints],
      verifier_key: receivers.verifierKey,
      provider_faults: { ...faultsOf(providers), lostNotification: notifier.lost() },
    }),
  }
}

async function startProviders(
  stack: AsyncDisposableStack,
  { seed, notifier }: { readonly seed: number; readonly notifier: Notifier },
) {
  const context = (use: string) => ({ stack, notifier, random: createRandom(seed, use) })
  return {
    stripe: await startCampaignStripe(context('stripe')),
    paypal: await startCampaignPaypal(context('paypal')),
    'authorize-net': await startCampaignAuthorizeNet(context('authorize-net')),
    sandbox: createCampaignSandbox(context('sandbox')),
  } satisfies Record<ProviderName, CampaignProvider>
}

function faultsOf(providers: readonly CampaignProvider[]): Record<string, number> {
  const sum: Record<string, number> = {}
  for (const { faults } of providers)
    for (const [kind, times] of Object.entries(faults)) sum[kind] = (sum[kind] ?? 0) + times
  return sum
}

/** What new operations wait at. */
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
    opened: async () => {
      while (closed !== undefined) await closed.promise
    },
    /** How long it has been closed. */
    closedMs: () => (closed === undefined ? 0 : performance.now() - closedAt),
  }
}
