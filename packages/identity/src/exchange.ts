// One exchange with the identity backend, at the least cost to the process: every request of every caller has one.
import type { Agent, Dispatcher } from 'undici'

export type BackendRequest = Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method' | 'headers'> & {
  readonly body?: string
}
/** `text` is empty for everything but a success: nothing else that the backend says is read. */
export type BackendResponse = {
  readonly status: number
  readonly contentType: string | readonly string[] | undefined
  readonly text: string
}

const utf8 = new TextDecoder()

/**
 * Sends the question once, and hears the answer through undici's own callbacks: its `request()` makes a stream and an
 * abort signal for each, which cost more than the exchange itself.
 *
 * @param timeoutMs for the whole answer, the wait for a free connection included
 * @throws what undici met, or a `TimeoutError`
 */
export function sendRequest(agent: Agent, request: BackendRequest, timeoutMs: number): Promise<BackendResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BackendResponse>()
  let head: Omit<BackendResponse, 'text'> = { status: 0, contentType: undefined }
  let sent: Dispatcher.DispatchController | undefined
  let timeoutError: Error | undefined
  const chunks: Buffer[] = []

  const timer = setTimeout(() => {
    timeoutError = new DOMException('The answer took too long', 'TimeoutError')
    reject(timeoutError)
    // Closes the connection, which makes room for another one. What still waits for room is given up when its turn comes.
    sent?.abort(timeoutError)
  }, timeoutMs)

  agent.dispatch(request, {
    onRequestStart(controller) {
      // Thrown, it is not sent and the connection stays for the next question; `abort` would close it.
      if (timeoutError) throw timeoutError
      sent = controller
    },
    onResponseStart(_controller, status, headers) {
      // An interim answer; the real one follows.
      if (status < 200) return
      head = { status, contentType: headers['content-type'] }
      // The rest is awaited all the same, within the time, so that the connection can be used again.
      if (!isSuccess(status)) resolve({ ...head, text: '' })
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk)
    },
    onResponseEnd() {
      clearTimeout(timer)
      if (isSuccess(head.status)) resolve({ ...head, text: utf8.decode(Buffer.concat(chunks)) })
    },
    onResponseError(_controller, error) {
      clearTimeout(timer)
      reject(error)
    },
  })
  return promise
}

export const isSuccess = (status: number) => status >= 200 && status <= 299
