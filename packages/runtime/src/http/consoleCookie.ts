// The session of the console from a cookie of the identity backend, where both are below one domain.

import { parseCookie } from 'cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { presentedCredentials } from './credentials.ts'

/** RFC 6265: a token. */
export const cookieName = /^[\w!#$%&'*+.^`|~-]+$/

/** Only a page of this origin can send it: a browser asks before it sends it elsewhere, and CORS does not list it. */
const consoleHeader = 'x-paylog-console'

/**
 * Takes the session from the cookie for requests of the console that carry no other credential. Browsers send cookies with
 * requests that other sites make, so a request without the console's header, or of another site by `Sec-Fetch-Site`, is
 * anonymous.
 * @param name the cookie, which may be HttpOnly
 */
export function acceptConsoleCookie(http: FastifyInstance, name: string): void {
  http.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request
    if (isFromConsole(request) && headers.cookie !== undefined && presentedCredentials(request).length === 0) {
      const session = parseCookie(headers.cookie)[name]
      if (session !== undefined && session !== '') headers['x-session-id'] = session
    }
    done()
  })
}

function isFromConsole({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return headers[consoleHeader] === '1' && (site === undefined || site === 'same-origin')
}
