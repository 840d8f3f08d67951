// Which address of a type is its owner's default.
import { addressFold, clearDefaultAddress } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import type { EventMetadata } from '@paylog/domain/messages'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import {
  type DefaultChoiceRequest,
  chooseDefaultItem,
  clearPreviousDefaults,
} from '@paylog/workflows/payment-methods/defaultChoice'

export type DefaultAddressChoice = {
  readonly address_id: string
  readonly address_type: AddressType
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

/** Chooses an address as the default of its type, before it carries the choice's number. @returns the number */
export function chooseDefaultAddress(workflow: Workflow, choosing: DefaultAddressChoice): Promise<number> {
  return chooseDefaultItem(workflow, listChoice(choosing))
}

/** Has the former default of the type cleared, once the chosen address carries its number. */
export function clearFormerDefaultAddress(workflow: Workflow, choosing: DefaultAddressChoice): Promise<void> {
  const { address_type, metadata } = choosing
  const { store, now } = workflow
  return clearPreviousDefaults(workflow, listChoice(choosing), async (itemId, choice) => {
    const command = { occurred_at: now().toISOString(), overtaken_by: { address_type, choice } }
    await store.handle({
      stream: addressStream(itemId),
      fold: addressFold,
      decide: (state) => clearDefaultAddress(command, state),
      metadata,
    })
  })
}

function listChoice({
  address_id: item_id,
  address_type,
  owner,
  metadata,
}: DefaultAddressChoice): DefaultChoiceRequest {
  const list = address_type === 'billing' ? 'billing_addresses' : 'shipping_addresses'
  return { list, owner, item_id, metadata }
}
