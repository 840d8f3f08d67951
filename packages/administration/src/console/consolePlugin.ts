// Serves the built console under /console.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'

const builtConsole = fileURLToPath(new URL('../../../../apps/console/dist', import.meta.url))
/** The page of the built console; missing until it is built. */
export const consolePage = join(builtConsole, 'index.html')
/** `apps/console/viteConfig.ts` puts it into the page. */
const noncePlaceholder = /__CSP_NONCE__/g
const assetAgeMs = 365 * 24 * 3_600_000

/**
 * The page, its assets, and its configuration. The page may be built after the start, so its files are looked up in each request.
 * @param options `sessionCookie`: whether the API accepts the session from a cookie; `directory`: the built files
 */
export const consolePlugin =
  (options: { readonly sessionCookie: boolean; readonly directory?: string }): FastifyPluginAsync =>
  async (http: FastifyInstance) => {
    const { sessionCookie, directory = builtConsole } = options
    const schema = { hide: true }
    await http.register(fastifyStatic, { serve: false, root: directory, suppressWarning: true, preCompressed: true })
    const page = (_request: unknown, reply: FastifyReply) => sendPage(reply, directory)

    http.get('/console/config.json', { schema }, async () => ({ session_cookie: sessionCookie }))
    http.get<{ Params: { '*': string } }>('/console/assets/*', { schema }, (request, reply) =>
      // The names contain a hash of the content.
      reply.sendFile(request.params['*'], join(directory, 'assets'), { ...assetOptions }),
    )
    http.get('/console/favicon.svg', { schema }, (_request, reply) => reply.sendFile('favicon.svg', directory))
    http.get('/console', { schema }, page)
    http.get('/console/*', { schema }, page)
  }

const assetOptions = { immutable: true, maxAge: assetAgeMs, preCompressed: true, dotfiles: 'deny' } as const

async function sendPage(reply: FastifyReply, directory: string): Promise<FastifyReply> {
  const page = await readPage(directory)
  if (page === undefined) {
    return reply.code(404).type('text/plain; charset=utf-8').send(notBuilt)
  }
  const nonce = randomBytes(18).toString('base64')
  return reply
    .header('content-security-policy', contentSecurityPolicy(nonce))
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page.replaceAll(noncePlaceholder, nonce))
}

/** Nothing from other hosts and no inline scripts. Styles that the component library creates carry the nonce. */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const notBuilt = 'The console is not built. Build it with: npm run build -w apps/console\n'

async function readPage(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, 'index.html'), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
