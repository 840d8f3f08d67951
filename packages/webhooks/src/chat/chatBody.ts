// The one entrance to the layouts.
import { chatMessage } from './chatMessage.ts'
import { type ChatService, chats } from './chatServices.ts'
import type { ChatNotice } from './notice.ts'

/** The body that a chat service shows as a message, as JSON. @param url the endpoint, which says more to some services */
export function chatBody(service: ChatService, chatNotice: ChatNotice, url: URL): string {
  return JSON.stringify(chats[service].message(chatMessage(chatNotice), url))
}
