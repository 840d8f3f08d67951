// The one entrance to the layouts.
import type { ChatService } from './chatServices.ts'
import type { Notice } from './notice.ts'

/** The body that a chat service shows as a message, as JSON. @param url the endpoint, which says more to some services */
export function chatBody(_service: ChatService, notice: Notice, _url: URL): string {
  return JSON.stringify({ text: notice.event })
}
