// The sandbox's page under test: the write API on a port, the sandbox's memory in Postgres, and a payer's browser without scripts.
import { createSandboxPage } from '@paylog/providers/sandbox/page'
import { sandboxPagePath } from '@paylog/providers/sandbox/plugin'
import { createPostgresMemory } from '@paylog/providers/sandbox/postgresMemory'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { freePort } from '@paylog/testing/processes'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import type { Test } from 'tap'
import { admin, commandApiHarness, webhookSecret } from './commandApiHarness.ts'

/** Addresses of a shop. */
export const shop = { return_url: 'https://shop.example.com/thanks?order=7', cancel_url: 'http://localhost:3000/cart' }

/** What a browser shows: nothing is followed, and the form can be sent. */
export type ShownPage = {
  readonly status: number
  readonly headers: Headers
  readonly location: string | null
  readonly html: string
  /** Texts without markup. */
  readonly text: string
  /** The names of the buttons. */
  readonly buttons: readonly string[]
  /** Sends the page's form with a button. @param headers of the request */
  send(action: string, headers?: Readonly<Record<string, string>>): Promise<ShownPage>
}

/** @param options of the write API */
export async function sandboxPageHarness(t: Test, options: Parameters<typeof commandApiHarness>[1] = {}) {
  const { databaseUrl } = await createTestDatabase(t)
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const memory = createPostgresMemory({ databaseUrl, timeoutMs: 5_000 })
  const webhookSecrets = [webhookSecret]
  const page = createSandboxPage({ url: `${origin}${sandboxPagePath}`, webhookSecrets, memory })
  const sandbox = createSandbox({ webhookSecrets, memory, page })
  const api = await commandApiHarness(t, { providers: [sandbox], ...options })
  await api.app.listen({ host: '127.0.0.1', port })
  t.teardown(() => sandbox.close())

  async function shown(url: string, init: RequestInit = {}): Promise<ShownPage> {
    const response = await fetch(url, { redirect: 'manual', ...init })
    const html = (await response.text()).replace(/<style>[\s\S]*<\/style>/, '')
    const { status, headers } = response
    const location = headers.get('location')
    return {
      ...{ status, headers, location, html },
      text: textOf(html),
      buttons: [...html.matchAll(/<button[^>]*>([^<]*)</g)].map(([, name = '']) => name),
      send: (action, more = {}) => {
        const [, seen = ''] = /name="seen" value="([^"]*)"/.exec(html) ?? []
        const body = new URLSearchParams({ action, seen })
        return shown(url.replace(/\/confirm$/, ''), { method: 'POST', body, headers: more })
      },
    }
  }

  return {
    ...api,
    memory,
    page,
    origin,
    /** Opens a page. @param url absolute, or a path */
    open: (url: string) => shown(new URL(url, origin).href),
    /** A guest's payment of 22.00 EUR. @param fields of the body, over the default ones */
    async pay(fields: object = {}) {
      const body = {
        total_cents: 2200,
        currency: 'EUR',
        concept: 'Two tickets',
        guest_data: { email: 'guest@example.com' },
      }
      const { data } = await api.send<{ id: string; redirect_url: string; provider_intent_id: string }>(
        'POST',
        '/payments/intents',
        {},
        { ...body, ...fields },
      )
      return data
    },
    /** The payment as administrators see it now. */
    async paymentNow(id: string) {
      const { data } = await api.send<Readonly<Record<string, unknown>>>('GET', `/admin/payments/${id}`, admin)
      return data
    },
  }
}

function textOf(html: string): string {
  const body = html.replace(/^[\s\S]*<body>/, '').replaceAll(/<[^>]*>/g, ' ')
  return body.replaceAll('&#39;', "'").replaceAll('&amp;', '&').replaceAll(/\s+/g, ' ').trim()
}
