// Creates, updates and deletes addresses.

import { recordedOwner } from '@paylog/domain/actor'
import {
  type AddAddress,
  type Address,
  type AddressState,
  addAddress,
  addressFold,
  changeAddress,
  existingAddress,
  removeAddress,
} from '@paylog/domain/addresses/address'
import type { AddressContent, AddressType } from '@paylog/domain/addresses/events'
import type { EventMetadata } from '@paylog/domain/events'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import type { Revision } from '@paylog/event-store/append/append'
import { causedBy, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import { changeDefault, type ListItem, withDefault } from '@paylog/workflows/defaults'

/** An address as responses show it. */
export type ShownAddress = LoadedState<AddressState> & { readonly is_default: boolean }

export type CreateAddress = {
  readonly address: AddAddress
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

export type AddressTarget = {
  readonly address_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the request's If-Match does not allow this revision. */
  readonly checkRevision: (revision: Revision) => void
  /** Throws for a body with card data. Called last, when everything else is valid. */
  readonly checkBody: () => void
  readonly metadata: EventMetadata
}

export type UpdateAddress = AddressTarget & {
  readonly changes: Partial<AddressContent>
  /** Unchanged if absent. */
  readonly is_default?: boolean
}

/**
 * Adds an address, or finds the one that the same Idempotency-Key added.
 * @returns the address as it was when it was added; `replayed` is true when an earlier request added it
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`
 */
export async function createAddress(
  workflow: Workflow,
  command: CreateAddress,
): Promise<ShownAddress & { readonly replayed: boolean }> {
  const { address, metadata } = command
  const stream = addressStream(address.address_id)
  // Without a key the id is random, so the stream is new.
  const known = address.request_fingerprint === null ? newStream(addressFold) : await firstState(workflow, stream)
  if (known.state.status !== 'none') return replayed(workflow, command, known)
  const added = await workflow.store.handle({
    stream,
    fold: addressFold,
    decide: (state) => addAddress(address, state),
    metadata,
    known,
  })
  if (added.events.length === 0) return replayed(workflow, command, await firstState(workflow, stream))
  const shown = { ...added, is_default: false, replayed: false }
  const following = { ...command, metadata: causedBy(added, metadata) }
  return address.is_default ? withDefault(workflow, shown, creationChoice(following)) : shown
}

/**
 * Changes an address, and whether it is the default of its type.
 * @throws DomainError `not_found`, `invalid_request` when a required field would be missing, `concurrent_modification`,
 *   `event_store_unavailable`, and what `checkRevision` and `checkBody` throw; nothing is recorded then
 */
export async function updateAddress(workflow: Workflow, update: UpdateAddress): Promise<ShownAddress> {
  const { store, now } = workflow
  const { address_id, owner, changes, is_default, metadata } = update
  const command = { occurred_at: now().toISOString(), changes }
  const stream = addressStream(address_id)
  const known = await store.load(stream, addressFold)
  const { address_type: previousType } = ownedAddress(update, known)
  // All checks come before a change of the default.
  changeAddress(command, known.state)
  update.checkBody()
  const address_type = changes.address_type ?? previousType
  const item = { ...addressItem(address_type, address_id, owner), metadata }
  // It may have been the default of this type before it got another type, and must not be it again by coming back.
  if (address_type !== previousType) await changeDefault(workflow, { ...item, is_default: false })
  const changed = await store.handle({
    stream,
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(update, { state, revision })
      return changeAddress(command, state)
    },
    metadata,
    known,
  })
  return withDefault(workflow, changed, { ...item, is_default, metadata: causedBy(changed, metadata) })
}

/**
 * Removes an address.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `checkRevision` and `checkBody` throw
 */
export function deleteAddress({ store, now }: Workflow, target: AddressTarget): Promise<LoadedState<AddressState>> {
  return store.handle({
    stream: addressStream(target.address_id),
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(target, { state, revision })
      target.checkBody()
      return removeAddress({ occurred_at: now().toISOString() }, state)
    },
    metadata: target.metadata,
  })
}

/** An address in its owner's list of its type, which has a default. */
function addressItem(address_type: AddressType, item_id: string, owner: string): ListItem {
  return { list: `${address_type}_addresses`, owner, item_id }
}

function firstState({ store }: Workflow, stream: string): Promise<LoadedState<AddressState>> {
  return store.load(stream, addressFold, 'AddressAdded')
}

/** Makes it the default again, because the first request may have crashed before it did. */
async function replayed(
  workflow: Workflow,
  command: CreateAddress,
  first: LoadedState<AddressState>,
): Promise<ShownAddress & { readonly replayed: true }> {
  const { was_added_as_default, request_fingerprint } = existingAddress(first.state)
  requireSameRequest({ request_fingerprint }, command.address.request_fingerprint)
  const choice = { ...creationChoice(command), unlessChangedAfter: first.position }
  const { position } = was_added_as_default ? await withDefault(workflow, first, choice) : first
  return { ...first, position, is_default: was_added_as_default, replayed: true }
}

function creationChoice({ address: { address_id, address_type }, owner, metadata }: CreateAddress) {
  return { ...addressItem(address_type, address_id, owner), is_default: true, metadata }
}

/** Another owner's address is `not_found`, like an unknown one. */
function ownedAddress(
  { owner, checkRevision }: AddressTarget,
  { state, revision }: Pick<LoadedState<AddressState>, 'state' | 'revision'>,
): Address {
  const address = existingAddress(
    state.status === 'none' || recordedOwner(state) === owner ? state : addressFold.initialState,
  )
  checkRevision(revision)
  return address
}
