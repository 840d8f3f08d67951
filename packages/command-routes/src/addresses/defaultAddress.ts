// Which address of a type is its owner's default.
import { addressFold, clearDefault } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import type { EventMetadata } from '@paylog/domain/messages'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import { type Choosing, chooseItem, clearFormer } from '@paylog/workflows/payment-methods/defaultChoice'

export type AddressChoosing = {
  readonly address_id: string
  readonly address_type: AddressType
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

/** Chooses an address as the default of its type, before it carries the choice's number. @returns the number */
export function chooseAddress(workflow: Workflow, choosing: AddressChoosing): Promise<number> {
  return chooseItem(workflow, inList(choosing))
}

/** Has the former default of the type cleared, once the chosen address carries its number. */
export function clearFormerAddress(workflow: Workflow, choosing: AddressChoosing): Promise<void> {
  const { address_type, metadata } = choosing
  const { store, now } = workflow
  return clearFormer(workflow, inList(choosing), async (itemId, choice) => {
    const command = { occurred_at: now().toISOString(), overtaken_by: { address_type, choice } }
    await store.handle({
      stream: addressStream(itemId),
      fold: addressFold,
      decide: (state) => clearDefault(command, state),
      metadata,
    })
  })
}

function inList({ address_id: item_id, address_type, owner, metadata }: AddressChoosing): Choosing {
  const list = address_type === 'billing' ? 'billing_addresses' : 'shipping_addresses'
  return { list, owner, item_id, metadata }
}
