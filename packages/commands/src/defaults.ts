// Changes the default of a list of payment methods or addresses, and reads it.
import { hiddenOwner } from '@paylog/domain/actor'
import {
  type DefaultChoiceEvent,
  type DefaultsList,
  defaultChoiceEvents,
  defaultChoiceFold,
  setDefault,
} from '@paylog/domain/defaultChoice'
import { type EventMetadata, isAfter, type LogPosition } from '@paylog/domain/events'
import type { Revision } from '@paylog/event-store/append/append'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { type EventStore, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { defaultChoiceStream, type StreamName } from '@paylog/event-store/streamName'
import { v5 as uuidv5 } from 'uuid'
import type { Workflow } from './context.ts'

/** An item of an owner's list. */
export type ListItem = {
  readonly list: DefaultsList
  /** See `ownerOf`. */
  readonly owner: string
  readonly item_id: string
}

/** An item as responses show it. */
export type ShownItem<State> = LoadedState<State> & { readonly is_default: boolean }

/** An item that its owner's request changes or removes. */
export type ItemTarget = {
  /** In lower case, and possibly malformed. */
  readonly id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the request's If-Match does not allow this revision. */
  readonly checkRevision: (revision: Revision) => void
  /** Throws for a body with card data. Called last, when everything else is valid. */
  readonly checkBody: () => void
  readonly metadata: EventMetadata
}

export type ChangeDefault = ListItem & {
  /** False ends that this item is the default; another item's default stays. Undefined changes nothing. */
  readonly is_default: boolean | undefined
  readonly metadata: EventMetadata
  /** Changes nothing if the list has changed after this position: a later choice wins over a repeated request. */
  readonly unlessChangedAfter?: LogPosition | undefined
}

/** Must never change: the streams of all lists derive from it. */
const namespace = '5f2f7a0c-93f5-5c1a-8f0e-3f2a6b0d9c41'

/** The id of a list. A hash, because an owner may be an e-mail and stream names appear in logs. */
export function listId({ hash }: Pick<EventStore, 'hash'>, { list, owner }: Pick<ListItem, 'list' | 'owner'>): string {
  return uuidv5(JSON.stringify([list, hiddenOwner(owner, hash)]), namespace)
}

/**
 * Two streams: the item, and the list's choice of its default. A write to an item with `is_default` changes the second one after the
 * first, and answers with both.
 *
 * Completes a write to an item: makes it its list's default, which replaces the previous one, or ends that it is.
 * @param write the item as the write left it
 * @returns `write` with `is_default` as it is now, and the position of whichever was recorded last
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function withDefault<Write extends { readonly position: LogPosition | undefined }>(
  workflow: Workflow,
  write: Write,
  change: ChangeDefault,
): Promise<Write & { readonly is_default: boolean }> {
  const { state: chosen_id, position } = await changeDefault(workflow, change)
  const isListLater = position && (write.position === undefined || isAfter(position, write.position))
  return { ...write, is_default: chosen_id === change.item_id, position: isListLater ? position : write.position }
}

/**
 * Makes an item its list's default, or ends that it is.
 * @returns the id of the list's default, and the position of the list's last event
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function changeDefault(workflow: Workflow, change: ChangeDefault): Promise<LoadedState<string | null>> {
  const { list, item_id: chosen_id, is_default, metadata, unlessChangedAfter } = change
  const list_id = listId(workflow.store, change)
  const stream = defaultChoiceStream(list_id)
  const assumed = await loadDefault(workflow, stream)
  const isSuperseded = unlessChangedAfter && assumed.position && isAfter(assumed.position, unlessChangedAfter)
  if (is_default === undefined || isSuperseded || is_default === (assumed.state === chosen_id)) return assumed
  return workflow.store.handle({
    stream,
    fold: defaultChoiceFold,
    decide: (current) =>
      setDefault({ list_id, list, occurred_at: workflow.now().toISOString(), chosen_id, is_default }, current),
    metadata,
    assumed,
  })
}

/** Reads the last event only: an owner who changes the default with every order has a long stream. */
async function loadDefault({ store }: Workflow, stream: StreamName): Promise<LoadedState<string | null>> {
  const [last] = await store.readStream(stream, { last: 1 })
  if (last === undefined || !isDefaultChoiceEvent(last)) return newStream(defaultChoiceFold)
  const { revision, position } = last
  return { state: defaultChoiceFold.evolve(null, last), revision, position }
}

function isDefaultChoiceEvent(event: Recorded): event is Recorded<DefaultChoiceEvent> {
  return Object.hasOwn(defaultChoiceEvents, event.type)
}
