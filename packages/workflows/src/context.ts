// The dependencies of every workflow.
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'

export type Workflow = {
  readonly store: EventStore
  /** The enabled providers by id. */
  readonly providers: ReadonlyMap<string, Provider>
  readonly now: () => Date
}
