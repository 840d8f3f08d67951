// A campaign of kills under load. It starts the system, lets clients pay, kills processes, and judges what is left.
import { setTimeout as pause } from 'node:timers/promises'
import { createClients } from './clients.ts'
import { startEndpoint } from './endpoint.ts'
import { judge } from './judge.ts'
import { killServices } from './kills.ts'
import { createNotifier } from './notifier.ts'
import type { Observations, Violation } from './observations.ts'
import { observe } from './observe.ts'
import { createRandom } from './random.ts'
import { createCampaignSandbox } from './sandbox.ts'
import { startCampaignStripe } from './stripe.ts'
import type { StripeFaults } from './stripeProxy.ts'
import { startCampaignSystem } from './system.ts'

export type CampaignOptions = { readonly seed: number; readonly kills: number; readonly minutes: number }

export type CampaignResult = {
  readonly observations: Observations
  readonly violations: readonly Violation[]
  readonly kills: ReadonlyMap<string, number>
  /** How often each process ended by itself. */
  readonly ownEnds: ReadonlyMap<string, number>
  readonly stripeFaults: Readonly<StripeFaults>
  /** From the last fault until everything was right, or until the judge stopped waiting. */
  readonly settledMs: number
}

/** How long the system has to recover after the last fault. */
const recoveryMs = 60_000
/** Without a webhook or notification for this long, the system is quiet. */
const quietMs = 3_000
const judgePauseMs = 1_000
const paymentPauseMs = [60, 340] as const
const foreignShare = 0.06
const inFlightLimit = 60

/** @param print gets progress */
export async function runCampaign(
  stack: AsyncDisposableStack,
  options: CampaignOptions,
  print: (line: string) => void,
): Promise<CampaignResult> {
  const { seed } = options
  const [over, limit] = [new AbortController(), AbortSignal.timeout(options.minutes * 60_000)]
  stack.defer(async () => over.abort())
  const stripe = await startCampaignStripe(stack, seed)
  const endpoint = await startEndpoint(stack, createRandom(seed, 'endpoint'))
  const urls: string[] = []
  const notifier = createNotifier({ urls, random: createRandom(seed, 'notifications'), over: over.signal })
  const sandbox = createCampaignSandbox(createRandom(seed, 'sandbox'), notifier)
  const system = await startCampaignSystem(stack, { ...stripe.env, ...sandbox.env, ...endpoint.env })
  urls.push(...system.commandUrls)
  stripe.notify(notifier)

  const acknowledged: string[] = []
  const clients = createClients({
    urls: system.commandUrls,
    random: createRandom(seed, 'clients'),
    over: over.signal,
    onAcknowledged({ provider, amount_cents, currency }, { id, provider_intent_id }) {
      acknowledged.push(id)
      if (provider === 'sandbox' && provider_intent_id !== null)
        sandbox.settle({ id: provider_intent_id, payment_id: id, amount_cents, currency })
    },
  })
  const load = new AbortController()
  const loading = (async () => {
    for (
      const random = createRandom(seed, 'load');
      !load.signal.aborted;
      await pause(random.between(...paymentPauseMs))
    ) {
      if (clients.busy() < inFlightLimit) clients.begin()
      if (random.isIn(foreignShare)) stripe.foreignPayment(acknowledged)
    }
  })()
  print('The system is running. Killing processes.')
  const kills = await killServices(system.services, {
    kills: options.kills,
    random: createRandom(seed, 'kills'),
    until: limit,
    onKill: (done) => {
      if (done % 20 === 0)
        print(`${done} kills, ${clients.requests.length} payments, ${endpoint.received.length} webhooks`)
    },
  })
  load.abort()
  await loading
  stripe.stopFaults()
  print('The last fault is over. Waiting until the system is quiet.')

  const seen = () => ({
    requests: clients.requests,
    intents: [...stripe.books(), ...sandbox.books()],
    notifications: notifier.notifications,
    webhooks: endpoint.received,
  })
  const isBusy = () => clients.busy() + notifier.pending() + stripe.payersBusy() > 0
  const began = performance.now()
  const deadline = began + recoveryMs
  const apis = { command: system.commandUrls[0], query: system.queryUrl }
  let result: { observations: Observations; violations: Violation[] } | undefined
  // The judge looks again until everything is right and stays right.
  for (;;) {
    await waitUntilQuiet(() => endpoint.received.length, isBusy, deadline)
    const isLast = performance.now() > deadline
    if (isLast) over.abort()
    const observations = await observe(apis, seen(), AbortSignal.timeout(recoveryMs))
    result = { observations, violations: judge(observations) }
    if (result.violations.length === 0 || isLast) break
    await pause(judgePauseMs)
  }
  const settledMs = performance.now() - began
  const ownEnds = new Map(system.services.map((service) => [service.name, service.ownEnds()]))
  return { ...result, kills, ownEnds, stripeFaults: stripe.faults, settledMs }
}

async function waitUntilQuiet(webhooks: () => number, isBusy: () => boolean, deadline: number): Promise<void> {
  let [count, quietSince] = [webhooks(), performance.now()]
  while (performance.now() < deadline && performance.now() - quietSince < quietMs) {
    await pause(100)
    if (webhooks() === count && !isBusy()) continue
    count = webhooks()
    quietSince = performance.now()
  }
}
