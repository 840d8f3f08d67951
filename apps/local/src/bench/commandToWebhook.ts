// From the answer of a command to the operator's endpoint, with the whole system as processes at a fifth of its load.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { demoSessions } from '@paylog/identity/demoCredentials'
import { type Figure, quantile } from '@paylog/worker/bench/figures'
import { request } from 'undici'
import { openWebhookEndpoint, type WebhookEndpoint } from '../demo/webhookEndpoint.ts'
import { createPrivateSystem } from '../privateSystem.ts'

const inFlight = 16
const warmUpSeconds = 4
const fullSeconds = 6
const seconds = 20
const load = 0.2
const patienceMs = 30_000
const targets = { p50: 25, p99: 150 }

const headers = { 'content-type': 'application/json', authorization: `Bearer ${demoSessions[0]?.session_id}` }
const body = JSON.stringify({ total_cents: 2200, currency: 'EUR' })

/** Starts a private system, finds out how many payments a second it takes, and then opens a fifth as many. */
export async function measureCommands(
  given: NodeJS.ProcessEnv,
  servers: Readonly<Record<string, string>>,
): Promise<Figure[]> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const endpoint = await openWebhookEndpoint(secret)
  const node = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, WEBHOOK_1_SECRET: secret }
  const system = await createPrivateSystem(given, { ...node, ...servers, LOG_LEVEL: 'warn' })
  try {
    const { base_url } = await system.start()
    const opened = await asFastAsAnswered(base_url, warmUpSeconds)
    const full = await asFastAsAnswered(base_url, fullSeconds)
    await arrivals(endpoint, opened + full)
    const perSecond = (full / fullSeconds) * load
    const answered = await asTheyCome(base_url, perSecond)
    const told = await arrivals(endpoint, opened + full + answered.size)
    const waits = told.flatMap(({ webhook, at }) => {
      const since = answered.get(webhook.data.payment_id)
      return since === undefined ? [] : [Math.max(0, at.getTime() - performance.timeOrigin - since)]
    })
    const details = { commands_per_second: perSecond, full_load_per_second: full / fullSeconds, commands: waits.length }
    return [figure('p50', quantile(waits, 0.5), details), figure('p99', quantile(waits, 0.99), details)]
  } finally {
    await system.stop()
    endpoint.close()
  }
}

function figure(which: 'p50' | 'p99', measured: number, details: Figure['details']): Figure {
  const name = `from the answer of a command to its webhook, at a fifth of the load, ${which}`
  return { name, measured, target: targets[which], better: 'lower', unit: 'ms', details }
}

function arrivals(endpoint: WebhookEndpoint, count: number) {
  return endpoint.arrivals(count, AbortSignal.timeout(patienceMs))
}

/** @returns how many payments were opened */
async function asFastAsAnswered(baseUrl: string, forSeconds: number): Promise<number> {
  const until = performance.now() + forSeconds * 1_000
  let opened = 0
  const client = async () => {
    while (performance.now() < until) {
      await openPayment(baseUrl)
      opened += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, client))
  return opened
}

/** Opens payments at moments as those of many independent clients are. @returns when each one was answered */
async function asTheyCome(baseUrl: string, perSecond: number): Promise<ReadonlyMap<string, number>> {
  const answered = new Map<string, number>()
  const underWay: Promise<void>[] = []
  const until = performance.now() + seconds * 1_000
  for (let due = performance.now(); due < until; due += (-Math.log(1 - Math.random()) * 1_000) / perSecond) {
    await pause(Math.max(0, due - performance.now()))
    underWay.push(openPayment(baseUrl).then((id) => void answered.set(id, performance.now())))
  }
  await Promise.all(underWay)
  return answered
}

async function openPayment(baseUrl: string): Promise<string> {
  const response = await request(`${baseUrl}/payments/intents`, { method: 'POST', headers, body })
  const answer = await response.body.text()
  const id = /"id":"([^"]+)"/.exec(answer)?.[1]
  if (response.statusCode !== 201 || id === undefined)
    throw new Error(`The payment was answered ${response.statusCode}: ${answer}`)
  return id
}
