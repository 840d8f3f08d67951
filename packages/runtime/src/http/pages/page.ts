// Pages for browsers that need no script: their frame, their look, and what they forbid.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html } from './html.ts'

export type Page = {
  readonly title: string
  readonly body: Html
  /** The origins besides our own that its forms lead to. Browsers apply this to redirects after a form, too. */
  readonly formOrigins?: readonly string[]
  /** After this many seconds it loads itself again. */
  readonly refreshSeconds?: number | undefined
}

const styles = readFileSync(new URL('page.css', import.meta.url), 'utf8')
const styleHash = createHash('sha256').update(styles).digest('base64')
/** A dot in the accent colour, in both colour schemes. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#1f6f5c"/></svg>',
)}`

/** Sends a page that nobody stores, frames, or learns the address of. */
export const sendPage = (reply: FastifyReply, page: Page): FastifyReply => reply.send(asPage(reply, page))

/** Sets the headers of a page. @returns its text */
function asPage(reply: FastifyReply, page: Page): string {
  reply.type('text/html; charset=utf-8').headers({
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy(page.formOrigins ?? []),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  return documentOf(page)
}

const contentSecurityPolicy = (formOrigins: readonly string[]) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    'img-src data:',
    ["form-action 'self'", ...new Set(formOrigins)].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

function documentOf({ title, body, refreshSeconds }: Page): string {
  const refresh = refreshSeconds === undefined ? null : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh}<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${{ html: styles }}</style>
</head>
<body>
${body}
</body>
</html>
`.html
}

/** Ours have a few short fields. */
const maxFormBytes = 16 * 1024

/** In this scope (plugin) forms of our own pages are read, as objects of texts, and errors are pages too. */
export function servePages(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const form = await scope.readBody(request, payload, maxFormBytes)
      return Object.fromEntries(new URLSearchParams(form.toString()))
    },
  )
  scope.addHook('onRequest', async ({ method, headers }) => {
    // Absent from older browsers, over plain HTTP to another machine, and from programs.
    const from = headers['sec-fetch-site'] ?? 'same-origin'
    if (method === 'POST' && from !== 'same-origin')
      throw new DomainError('forbidden', 'This form was sent by another site. Nothing was done.')
  })
  scope.addHook('onSend', async (_request, reply, payload) => {
    if (reply.statusCode < 400 || typeof payload !== 'string' || payload.startsWith('<')) return payload
    const { error }: { readonly error: { readonly message: string } } = JSON.parse(payload)
    return asPage(reply, errorPage(error.message))
  })
}

const errorPage = (message: string): Page => ({
  title: 'That did not work',
  body: html`<main class="sheet"><h1>That did not work</h1><p>${message}</p></main>`,
})
