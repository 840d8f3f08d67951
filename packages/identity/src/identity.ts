// Turns a request into the actor behind it.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Actor } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { createIdentityBackend } from './backend.ts'
import { type PresentedCredential, presentedCredentials } from './credentials.ts'

export type Identity = {
  /**
   * The caller behind a request; anonymous when no credential was presented. Each presented one is tried in the
   * interface's order until one is valid.
   * @throws DomainError `unauthenticated` when none of them is valid, `identity_unavailable` when the backend cannot
   *   tell: a later credential must not speak for an earlier one that may be valid.
   */
  actorOf(request: {
    readonly headers: IncomingHttpHeaders
    readonly query: Readonly<Record<string, unknown>>
  }): Promise<Actor>
  close(): Promise<void>
}

/**
 * @param options `adminUserTypes` are the `userType`s of administrators; `timeoutMs` is how long one validation may take
 */
export function createIdentity(options: {
  readonly authUrl: string
  readonly service: string
  readonly adminUserTypes: readonly string[]
  readonly timeoutMs: number
}): Identity {
  const backend = createIdentityBackend(options)

  async function actorBehind(credential: PresentedCredential): Promise<Actor | undefined> {
    switch (credential.kind) {
      case 'session': {
        const user = await backend.validateSession(credential.value)
        if (user === undefined) return undefined
        return { kind: 'session', ...user, is_administrator: options.adminUserTypes.includes(user.user_type) }
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

  return {
    async actorOf(request) {
      const credentials = presentedCredentials(request)
      if (credentials.length === 0) return { kind: 'anonymous' }
      for (const credential of credentials) {
        const actor = await actorBehind(credential)
        if (actor !== undefined) return actor
      }
      throw new DomainError('unauthenticated', 'The credential is not valid, has expired or was revoked')
    },
    close: () => backend.close(),
  }
}

/** What is kept of a guest token: enough to recognise it, not enough to use it. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
