// The keys that personal data in events is sealed with. `packages/privacy` keeps them in Postgres.
import type { KeyObject } from 'node:crypto'

/**
 * A secret key of 256 bits. Events name it by its id, a UUID that says nothing about whose it is. A KeyObject, because Node
 * needs several times as long to encrypt with bytes.
 */
export type DataKey = { readonly id: string; readonly key: KeyObject }

export type DataKeys = {
  /**
   * The present keys of these names, in their order. A key that does not exist is made; it is durable before this resolves.
   * A name is an owner (`user:<id>`, `guest:<folded e-mail>`), a stream that belongs to nobody (`payment:<id>`), or a bucket
   * (`body:<day>`, `secret:<day>`, as 2026-11-27 in UTC). Names are never stored, only their keyed hash.
   * @throws DomainError `service_unavailable`
   */
  named(names: readonly string[]): Promise<readonly DataKey[]>
  /**
   * Notes that a name was seen with an e-mail, so that its key is found by it. Makes the key too. `guest:<e-mail>` needs no call.
   * @throws DomainError `service_unavailable`
   */
  seen(name: string, email: string): Promise<void>
  /**
   * Makes these keys available to `known`, until more than some thousand others have been used.
   * @throws DomainError `service_unavailable`
   */
  load(ids: readonly string[]): Promise<void>
  /** The key with this id; null when it was destroyed or never existed, undefined when it has not been loaded. */
  known(id: string): KeyObject | null | undefined
  /** HMAC-SHA-256 under a secret of this installation. @throws DomainError `service_unavailable` */
  hash(text: string): Buffer
  /**
   * Destroys these keys, if they exist. Before it resolves, `known` is null for them. May be repeated.
   * @throws when that is not possible at the moment
   */
  destroy(ids: readonly string[]): Promise<void>
}

/** For a process that reads raw events only. Decoding a sealed event with them fails. */
export const noDataKeys: DataKeys = {
  named: async () => withoutKeys(),
  seen: async () => withoutKeys(),
  load: async () => withoutKeys(),
  known: () => withoutKeys(),
  hash: () => withoutKeys(),
  destroy: async () => withoutKeys(),
}

/** Keys that open nothing: every sealed field is null, as after the destruction of its key. */
export const closedKeys: DataKeys = { ...noDataKeys, load: async () => undefined, known: () => null }

function withoutKeys(): never {
  throw new Error('This process has no keys of personal data')
}
