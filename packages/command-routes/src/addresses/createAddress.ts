// Keeping a new address: one event, and as the default a choice before it and the former's clearing after it.
import {
  type AddAddress,
  type AddressState,
  addAddress,
  addressFold,
  existingAddress,
} from '@paylog/domain/addresses/address'
import { requireSameRequest } from '@paylog/domain/idempotencyKey'
import type { EventMetadata } from '@paylog/domain/messages'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import { chooseDefaultAddress, clearFormerDefaultAddress } from './defaultAddress.ts'

export type CreateAddress = {
  readonly address: Omit<AddAddress, 'default_choice'>
  readonly is_default: boolean
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

/**
 * Adds the address, or finds the one that the same Idempotency-Key added before.
 * @returns the address as it was when it was added, and whether an earlier request had added it
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`
 */
export async function createAddress(
  workflow: Workflow,
  command: CreateAddress,
): Promise<{ readonly added: LoadedState<AddressState>; readonly replayed: boolean }> {
  const { address, is_default, metadata } = command
  const stream = addressStream(address.address_id)
  // Without a key the id is new.
  const known = address.request_fingerprint === null ? newStream(addressFold) : await firstState(workflow, stream)
  if (known.state.status !== 'none') return { added: await replayed(workflow, command, known), replayed: true }
  const default_choice = is_default ? await chooseDefaultAddress(workflow, defaultChoiceOf(command)) : null
  const added = await workflow.store.handle({
    stream,
    fold: addressFold,
    decide: (state) => addAddress({ ...address, default_choice }, state),
    metadata,
    known,
  })
  if (added.events.length === 0) {
    const first = await firstState(workflow, stream)
    return { added: await replayed(workflow, command, first), replayed: true }
  }
  if (is_default) await clearFormerDefaultAddress(workflow, defaultChoiceOf(command))
  return { added, replayed: false }
}

function firstState({ store }: Workflow, stream: string): Promise<LoadedState<AddressState>> {
  return store.load(stream, addressFold, 'AddressAdded')
}

/** The request that added it may have died before the former default was cleared, so that is done once more. */
async function replayed(
  workflow: Workflow,
  command: CreateAddress,
  first: LoadedState<AddressState>,
): Promise<LoadedState<AddressState>> {
  const address = existingAddress(first.state)
  requireSameRequest(address, command.address.request_fingerprint)
  if (address.is_default) await clearFormerDefaultAddress(workflow, defaultChoiceOf(command))
  return first
}

function defaultChoiceOf({ address: { address_id, address_type }, owner, metadata }: CreateAddress) {
  return { address_id, address_type, owner, metadata }
}
