// Identifies the caller of a request by its credentials.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Actor } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { allRights, type GrantedRights, noRights } from '@paylog/domain/rights'
import { commaList, readBy, text, url } from '@paylog/runtime/config/kinds'
import { type PresentedCredential, presentedCredentials } from '@paylog/runtime/http/credentials'
import { type StaticDecode, Type } from 'typebox'
import { createIdentityBackend } from './backend.ts'
import { parseRights } from './rightsVariable.ts'

/** Finds the e-mail of an expired guest token by its hash; undefined when it is not known. */
export type EmailOfToken = (tokenHash: string) => Promise<string | undefined>

type PresentedRequest = {
  readonly headers: IncomingHttpHeaders
  readonly query: unknown
  /** Called for each invalid credential, even when a later one is valid. */
  readonly onInvalid?: () => void
}

export type Identity = {
  /**
   * Identifies the caller; anonymous when the request has no credentials. Tries each credential in the interface's order
   * until one is valid.
   * @throws DomainError `unauthenticated` when none is valid, `identity_unavailable` when the backend could not check one:
   *   no later credential is tried then, because the earlier one may be valid
   */
  actorOf(request: PresentedRequest): Promise<Actor>
  /**
   * Like `actorOf`, but when the backend rejects every credential, looks up those presented as guest tokens, in the same
   * order. The first known one identifies the caller.
   * @returns a function that throws what `actorOf` and `emailOf` throw
   */
  actorOrRemembered(emailOf: EmailOfToken): (request: PresentedRequest) => Promise<Actor>
  close(): Promise<void>
}

/**
 * @param options `adminUserTypes` are the `userType`s that have all rights, `rights` those of others; `timeoutMs` limits each
 *   validation
 */
export function createIdentity(options: {
  readonly authUrl: string
  readonly service: string
  readonly adminUserTypes: readonly string[]
  readonly rights: ReadonlyMap<string, GrantedRights>
  readonly timeoutMs: number
}): Identity {
  const backend = createIdentityBackend(options)
  const rights = new Map([...options.rights, ...options.adminUserTypes.map((type) => [type, allRights] as const)])

  async function actorOfCredential(credential: PresentedCredential): Promise<Actor | undefined> {
    switch (credential.kind) {
      case 'session': {
        const user = await backend.validateSession(credential.value)
        if (user === undefined) return undefined
        return { kind: 'session', ...user, ...(rights.get(user.user_type) ?? noRights) }
      }
      case 'guest_token': {
        const guest = await backend.validateToken(credential.value)
        if (guest === undefined) return undefined
        return { kind: 'guest', ...guest, token_hash: hashToken(credential.value) }
      }
      case 'unusable':
        return undefined
    }
  }

  async function validActor(
    credentials: readonly PresentedCredential[],
    onInvalid: PresentedRequest['onInvalid'],
  ): Promise<Actor | undefined> {
    if (credentials.length === 0) return { kind: 'anonymous' }
    for (const credential of credentials) {
      const actor = await actorOfCredential(credential)
      if (actor !== undefined) return actor
      onInvalid?.()
    }
    return undefined
  }

  return {
    async actorOf(request) {
      return (await validActor(presentedCredentials(request), request.onInvalid)) ?? throwUnauthenticated()
    },
    actorOrRemembered: (emailOf) => async (request) => {
      const credentials = presentedCredentials(request)
      return (
        (await validActor(credentials, request.onInvalid)) ??
        (await rememberedActor(credentials, emailOf)) ??
        throwUnauthenticated()
      )
    },
    close: () => backend.close(),
  }
}

async function rememberedActor(
  credentials: readonly PresentedCredential[],
  emailOf: EmailOfToken,
): Promise<Actor | undefined> {
  for (const credential of credentials) {
    if (credential.kind !== 'guest_token') continue
    const token_hash = hashToken(credential.value)
    const guest_email = await emailOf(token_hash)
    if (guest_email !== undefined) return { kind: 'guest', guest_email, token_hash, is_remembered: true }
  }
  return undefined
}

function throwUnauthenticated(): never {
  throw new DomainError('unauthenticated', 'The credential is not valid, has expired or was revoked')
}

/** We store only this hash of a guest token: enough to recognise it, not enough to use it. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export const identityVariables = {
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
  RIGHTS: readBy(parseRights, ''),
}
const IdentityConfig = Type.Object(identityVariables)

const timeoutMs = 2_000

/** Creates the identity from the configuration. `close` ends its connections to the backend. */
export function configuredIdentity(config: Readonly<StaticDecode<typeof IdentityConfig>>): Identity {
  return createIdentity({
    authUrl: config.AUTH_URL,
    service: config.AUTH_SERVICE,
    adminUserTypes: config.ADMIN_USER_TYPES,
    rights: config.RIGHTS,
    timeoutMs,
  })
}
