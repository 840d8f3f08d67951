// GET / in local mode and in the trials: what runs, where to go, and a first payment.
import { stat } from 'node:fs/promises'
import { enabledProviders, liveProviders, type ProviderConfig } from '@paylog/commands/provider-calls/enabledProviders'
import { demoConsoleFragment, demoGuestTokens, demoSessions } from '@paylog/identity/sandboxIdentity'
import { type Html, html } from '@paylog/runtime/http/pages/html'
import { type Page, sendPage } from '@paylog/runtime/http/pages/page'
import { firstPaymentPath, type StartPage } from '@paylog/runtime/http/pages/startPage'
import type { FastifyPluginAsync } from 'fastify'
import { consolePage } from '../console/consolePlugin.ts'
import type { System, SystemState } from '../system/system.ts'

type Provider = { readonly id: string; readonly isLive: boolean }

type Shown = {
  readonly system: SystemState
  readonly isConsoleBuilt: boolean
  readonly providers: readonly Provider[]
  /** The origin of the sandbox's page; undefined where it has none. */
  readonly paymentOrigin: string | undefined
  readonly isDemo: boolean
}

/** @param options `config` of the providers; nothing is served while `startPage` is off */
export const startPagePlugin =
  (options: {
    readonly config: ProviderConfig
    readonly system: System
    readonly startPage: StartPage
  }): FastifyPluginAsync =>
  async (http) => {
    const { config, system, startPage } = options
    if (startPage === 'off') return
    const live = liveProviders(config)
    const enabled = await enabledProviders(config)
    http.addHook('onClose', async () => void (await Promise.all([...enabled.values()].map((each) => each.close()))))
    const providers = [...enabled.keys()].map((id) => ({ id, isLive: live.includes(id) }))
    const paymentOrigin = enabled.get('sandbox')?.hostedPage?.origin
    http.get('/', { config: { callers: 'public' }, schema: { hide: true } }, async ({ log }, reply) => {
      const isConsoleBuilt = await stat(consolePage).then(
        () => true,
        () => false,
      )
      const isDemo = startPage === 'demo'
      const shown = { system: await system.read(log), isConsoleBuilt, providers, paymentOrigin, isDemo }
      return sendPage(reply, startPageOf(shown))
    })
  }

function startPageOf(shown: Shown): Page {
  const { version } = shown.system
  const body = html`<main class="sheet wide">
<header class="stack">
<h1>Paylog is running</h1>
<p class="soft">Version ${version}. It takes payments, and records every step as an event.</p>
</header>
${firstPayment(shown)}
<div class="columns">
<section class="stack"><h2>Look around</h2>${places(shown)}</section>
<section class="stack"><h2>Sign in</h2>${credentials(shown)}</section>
</div>
<section class="stack"><h2>What runs</h2><ul class="rows">${parts(shown)}</ul></section>
</main>`
  const { paymentOrigin } = shown
  return { title: 'Paylog', body, ...(paymentOrigin !== undefined && { formOrigins: [paymentOrigin] }) }
}

function firstPayment({ paymentOrigin }: Shown): Html | null {
  if (paymentOrigin === undefined) return null
  return html`<section class="offer">
<div class="stack"><h2>Take a first payment</h2>
<p>You are the guest who pays, at a provider that moves no money. Then you come back and see the payment in the console.</p></div>
<form method="post" action="${firstPaymentPath}"><button class="primary">Pay 22.00 EUR</button></form>
</section>`
}

function places({ isDemo }: Shown): Html {
  const links = [
    [`/console${isDemo ? demoConsoleFragment : ''}`, 'Console', 'payments, webhooks and the state of the system'],
    ['/docs', 'API reference', 'every route, to read and to try'],
    ['/openapi.json', 'OpenAPI document', 'for generators'],
  ] as const
  return html`<ul class="links">${links.map(([url, name, about]) => html`<li><a href="${url}">${name}</a> <small>${about}</small></li>`)}</ul>`
}

function credentials({ isDemo }: Shown): Html {
  if (!isDemo) return html`<p>With a session of your identity backend, in the header <code>X-Session-ID</code>.</p>`
  const rows = [
    ...demoSessions.map(({ session_id, user }) => [user.userType, `X-Session-ID: ${session_id}`, user.email]),
    ...demoGuestTokens.map(({ token, email }) => ['guest', `X-Guest-Token: ${token}`, email]),
  ]
  return html`<dl class="facts">${rows.map(
    ([who, header, email]) => html`<dt>${who}</dt><dd><code>${header}</code> <small>${email}</small></dd>`,
  )}</dl>
<small>The link to the console signs you in as the administrator.</small>`
}

const about: Readonly<Record<string, string>> = {
  api: 'the command, query and operator APIs',
  'operator-api': 'for administrators, and this page',
  'command-api': 'takes payments and notifications',
  'query-api': 'answers reads',
  projector: 'keeps the lists up to date',
  worker: 'sends webhooks, and asks providers about open payments',
}

const looks = { ready: 'good', unavailable: 'bad', stopping: 'warn', unreachable: 'bad' } as const

function parts({ system, isConsoleBuilt, providers }: Shown): readonly Html[] {
  const [own] = system.processes
  const store = (name: string, check: string, remark: string) => {
    const isReady = Object.entries(own?.checks ?? {}).some(([each, state]) => each === check && isOk(state))
    return part(name, isReady ? 'good' : 'bad', isReady ? 'ready' : 'unavailable', remark)
  }
  return [
    ...system.processes.map(({ name, status, checks }) => {
      const failed = Object.entries(checks).flatMap(([check, state]) => (isOk(state) ? [] : [check]))
      return part(
        name,
        looks[status],
        status,
        failed.length === 0 ? (about[name] ?? '') : `fails: ${failed.join(', ')}`,
      )
    }),
    store('event store', 'event_store', 'the log, from which everything else follows'),
    store('Postgres', 'postgres', 'lists, webhook deliveries and keys'),
    isConsoleBuilt
      ? part('console', 'good', 'ready', 'for administrators, in the browser')
      : part('console', 'warn', 'not built', 'npm start builds it, or npm run build -w apps/console'),
    ...providers.map(({ id, isLive }) =>
      part(
        `provider ${id}`,
        isLive ? 'warn' : 'good',
        isLive ? 'live' : 'test',
        isLive ? 'moves real money' : 'moves no real money',
      ),
    ),
  ]
}

const isOk = (state: unknown) => typeof state === 'object' && state !== null && 'ok' in state && state.ok === true

const part = (name: string, look: string, state: string, remark: string) =>
  html`<li><b>${name}</b> <span class="badge ${look}">${state}</span> <small>${remark}</small></li>
`
