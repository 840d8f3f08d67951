// The operations that the console uses, in the form that openapi-fetch takes.
import type {
  Address,
  Dispute,
  DisputeStatus,
  HistoryEntry,
  ListedPayment,
  Payment,
  PaymentMethod,
  PaymentStatus,
  Product,
  ProductChanges,
  ProductType,
  RawEvent,
  Refund,
  RefundReason,
  Statistics,
  SyncReport,
  SyncRequest,
  UserContext,
} from './apiTypes.ts'
import type {
  Delivery,
  DeliveryDetail,
  DeliveryStatus,
  Job,
  ProjectionReport,
  SystemReport,
  WebhookEndpointReport,
} from './operatorTypes.ts'

type ErrorBody = {
  success: false
  error: { code: string; message: string; details?: Record<string, unknown>; request_id: string }
}
type Operation<Parameters, Body, Answer> = {
  parameters: Parameters
  requestBody?: { content: { 'application/json': Body } }
  responses: {
    200: { headers: object; content: { 'application/json': { success: true; data: Answer } } }
    default: { headers: object; content: { 'application/json': ErrorBody } }
  }
}
type List<Query, Item, Meta> = {
  parameters: { query?: Query }
  responses: {
    200: { headers: object; content: { 'application/json': { success: true; data: Item[] } & Meta } }
    default: { headers: object; content: { 'application/json': ErrorBody } }
  }
}
type Path = { path: { id: string } }
type EndpointPath = { path: { endpoint: string } }
type Cursor = { limit?: number; cursor?: string }
type CursorMeta = { meta: { limit: number; next_cursor: string | null } }
type IfMatch = { header?: { 'If-Match'?: string } }
type Idempotent = { header?: { 'Idempotency-Key'?: string } }
type Flag = 'true' | 'false'

export type PaymentsQuery = Cursor & {
  status?: PaymentStatus
  provider_id?: string
  user_id?: string
  guest_email?: string
  reference_code?: string
  search?: string
  created_at_from?: string
  created_at_to?: string
  amount_from?: number
  amount_to?: number
  currency?: string
  refunded?: Flag
  disputed?: Flag
  attention?: Flag
  orderBy?: 'created_at' | 'updated_at' | 'amount_cents'
  orderDir?: 'asc' | 'desc'
}
export type ProductsQuery = Cursor & {
  category_id?: string
  product_type?: ProductType
  is_recurring?: Flag
  is_active?: Flag
  search?: string
  orderBy?: 'name' | 'subtotal_cents' | 'created_at' | 'updated_at'
  orderDir?: 'asc' | 'desc'
}
export type DeliveriesQuery = Cursor & {
  endpoint?: string
  status?: DeliveryStatus
  event?: string
  payment_id?: string
  test?: Flag
}
export type Owner = { user_id: string } | { guest_email: string }
export type PaymentsMeta = {
  meta: { limit: number; next_cursor: string | null; total: number; total_is_exact: boolean }
}
type OwnerList<Item> = List<
  Owner & { page?: number; limit?: number },
  Item,
  { meta: { page: number; limit: number; total: number; hasMore: boolean } }
>

export type Paths = {
  '/payments': { get: List<{ limit?: number }, unknown, { user_context: UserContext }> }
  '/admin/payments': { get: List<PaymentsQuery, ListedPayment, PaymentsMeta> }
  '/admin/payments/{id}': { get: Operation<Path & { query?: { as_of?: string } }, never, Payment> }
  '/admin/payments/{id}/history': { get: Operation<Path & { query?: { as_of?: string } }, never, HistoryEntry[]> }
  '/admin/payments/{id}/events': {
    get: {
      parameters: Path & { query?: { from_revision?: number; limit?: number } }
      responses: List<never, RawEvent, { meta: { limit: number; next_revision: number | null } }>['responses']
    }
  }
  '/payments/{id}/refunds': {
    post: Operation<Path & Idempotent, { amount_cents?: number; reason?: RefundReason; note?: string }, Refund>
  }
  '/payments/{id}/cancel': { post: Operation<Path & IfMatch, { reason?: string }, Payment> }
  '/payments/{id}/capture': { post: Operation<Path & IfMatch, { amount_cents?: number }, Payment> }
  '/payments/{id}/refresh': { post: Operation<Path, never, Payment> }
  '/admin/stats': {
    get: List<{ from: string; to: string; interval?: 'hour' | 'day' }, Statistics, object>
  }
  '/admin/disputes': { get: List<Cursor & { status?: DisputeStatus }, Dispute, CursorMeta> }
  '/admin/payment-methods': { get: OwnerList<PaymentMethod> }
  '/admin/addresses': { get: OwnerList<Address> }
  '/admin/products': {
    get: List<ProductsQuery, Product, CursorMeta & { pagination?: { total: number } }>
    post: Operation<Idempotent, ProductChanges, Product>
  }
  '/admin/products/{id}': {
    get: Operation<Path, never, Product>
    put: Operation<Path & IfMatch, ProductChanges, Product>
  }
  '/admin/sync/products': { post: Operation<Idempotent, SyncRequest, SyncReport> }
  '/admin/system': { get: Operation<object, never, SystemReport> }
  '/admin/projections': { get: List<never, ProjectionReport, object> }
  '/admin/projections/{name}/rebuild': { post: Operation<{ path: { name: string } }, never, Job> }
  '/admin/projections/{name}/verify': { post: Operation<{ path: { name: string } }, never, Job> }
  '/admin/jobs': { get: List<{ limit?: number }, Job, object> }
  '/admin/jobs/{id}': { get: Operation<Path, never, Job> }
  '/admin/jobs/{id}/cancel': { post: Operation<Path, never, Job> }
  '/admin/webhook-endpoints': { get: List<never, WebhookEndpointReport, object> }
  '/admin/webhook-endpoints/{endpoint}/enable': {
    post: Operation<EndpointPath, never, { endpoint: string; disabled_at: string | null; held: number }>
  }
  '/admin/webhook-endpoints/{endpoint}/backfill': {
    post: Operation<EndpointPath, { from?: string; dry_run?: boolean }, Job>
  }
  '/admin/webhook-endpoints/{endpoint}/redeliver': {
    post: Operation<EndpointPath, { since?: string; dry_run?: boolean }, { deliveries: number }>
  }
  '/admin/webhook-deliveries': { get: List<DeliveriesQuery, Delivery, CursorMeta> }
  '/admin/webhook-deliveries/{id}': { get: Operation<Path, never, DeliveryDetail> }
  '/admin/webhook-deliveries/{id}/redeliver': { post: Operation<Path, never, Delivery> }
}
