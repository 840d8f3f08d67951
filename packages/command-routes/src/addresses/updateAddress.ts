// Changing and removing an address that is there, by its owner and nobody else.
import {
  type Address,
  type AddressState,
  addressFold,
  changeAddress,
  existingAddress,
  removeAddress,
} from '@paylog/domain/addresses/address'
import type { AddressContent } from '@paylog/domain/addresses/events'
import type { EventMetadata } from '@paylog/domain/messages'
import { recordedOwner } from '@paylog/domain/owner'
import type { Revision } from '@paylog/event-store/append/appending'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import { chooseDefaultAddress, clearFormerDefaultAddress } from './defaultAddress.ts'

export type AddressTarget = {
  readonly address_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the owner has not meant the address as it is now. */
  readonly permit: (revision: Revision) => void
  /** Throws what is wrong with the request beyond its shape; called when everything else is in order. */
  readonly refuse: () => void
  readonly metadata: EventMetadata
}

export type UpdateAddress = AddressTarget & {
  readonly changes: Partial<AddressContent>
  /** Left out: it stays as it is. */
  readonly is_default?: boolean
}

/**
 * Changes an address, and has the former default of its type cleared when this one takes its place.
 * @throws DomainError `not_found`, `invalid_request` when it would lack what an address must have,
 *   `concurrent_modification`, `event_store_unavailable`, and what `permit` and `refuse` throw; nothing is recorded then
 */
export async function updateAddress(workflow: Workflow, update: UpdateAddress): Promise<LoadedState<AddressState>> {
  const { store, now } = workflow
  const { address_id, owner, changes, is_default, metadata } = update
  const occurred_at = now().toISOString()
  const stream = addressStream(address_id)
  const known = await store.load(stream, addressFold)
  const { address_type: before, default_choice: number } = ownedAddress(update, known)
  // What is about to be done to its lists cannot be taken back, so whatever would be refused is refused before.
  changeAddress({ occurred_at, changes }, known.state)
  update.refuse()
  const choosing = { address_id, address_type: changes.address_type ?? before, owner, metadata }
  // Its number goes with it, and nothing that the number outdid may count again.
  if (choosing.address_type !== before && number !== null)
    await clearFormerDefaultAddress(workflow, { ...choosing, address_type: before })
  const choice = is_default ? await chooseDefaultAddress(workflow, choosing) : undefined
  const chosen = choice === undefined ? null : { address_type: choosing.address_type, choice }
  const command = { occurred_at, changes, ...(is_default !== undefined && { default_choice: chosen }) }
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
  if (is_default) await clearFormerDefaultAddress(workflow, choosing)
  return changed
}

/**
 * Removes an address.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `permit` and `refuse` throw
 */
export function deleteAddress({ store, now }: Workflow, target: AddressTarget): Promise<LoadedState<AddressState>> {
  return store.handle({
    stream: addressStream(target.address_id),
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(target, { state, revision })
      target.refuse()
      return removeAddress({ occurred_at: now().toISOString() }, state)
    },
    metadata: target.metadata,
  })
}

/** Another's address is answered like one that does not exist. */
function ownedAddress(
  { owner, permit }: AddressTarget,
  { state, revision }: Pick<LoadedState<AddressState>, 'state' | 'revision'>,
): Address {
  const address = existingAddress(
    state.status === 'none' || recordedOwner(state) === owner ? state : addressFold.initialState,
  )
  permit(revision)
  return address
}
