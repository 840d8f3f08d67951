// The resources of the API that the console shows, by the names that its pages use.
import type { OperationInput, Schemas } from '@paylog/client/client'

export type ListedPayment = Schemas['AnyListedPayment']
export type Payment = Schemas['AnyPayment']
/** As a write returns it. */
export type ChangedPayment = Schemas['Payment']
export type PaymentStatus = Schemas['PaymentStatus']
export type MethodSummary = Schemas['PaymentMethodSummary']
export type AttentionItem = Schemas['AttentionItem']
export type AttentionEntry = Schemas['AttentionEntry']
export type ProviderState = Schemas['ProviderState']
export type HistoryEntry = Schemas['HistoryEntry']
export type RawEvent = Schemas['RecordedEvent']
export type Refund = Schemas['Refund']
export type ListedRefund = Schemas['AnyListedRefund']
export type RefundReason = Schemas['RefundReason']
export type Dispute = Schemas['Dispute']
export type Delivery = Schemas['WebhookDelivery']
export type DeliveryDetails = Schemas['WebhookDeliveryDetails']
export type DeliveryTry = Schemas['WebhookDeliveryTry']
export type EndpointReport = Schemas['WebhookEndpoint']
export type EndpointStatistics = Schemas['EndpointStatistics']
export type ProjectionReport = Schemas['Projection']
export type ProjectionTable = Schemas['ProjectionTable']
export type Job = Schemas['Job']
export type Erasure = Schemas['Erasure']
export type ProcessReport = Schemas['Process']
export type SystemState = Schemas['System']
export type Statistics = Schemas['Statistics']
export type Report = Schemas['Report']
export type ReportRow = Schemas['ReportRow']
export type Me = Schemas['Me']
export type Provider = Schemas['ProviderState']
export type CheckedProvider = Schemas['CheckedProvider']
export type PaymentMethod = Schemas['PaymentMethod']
export type Address = Schemas['Address']
export type AuditTrailEntry = Schemas['AuditTrailEntry']
export type Product = Schemas['Product']
export type ProductChange = Schemas['ProductChange']
export type SyncReport = Schemas['SyncReport']

type QueryOf<Input> = Input extends { query?: infer Query } ? NonNullable<Query> : never
export type PaymentsQuery = QueryOf<OperationInput<'listAnyPayments'>>
export type RefundsQuery = QueryOf<OperationInput<'listAnyRefunds'>>
export type DisputesQuery = QueryOf<OperationInput<'listDisputes'>>
export type ProductsQuery = QueryOf<OperationInput<'listProducts'>>
export type DeliveriesQuery = QueryOf<OperationInput<'listWebhookDeliveries'>>
export type ReportQuery = QueryOf<OperationInput<'getReport'>>
export type AuditTrailQuery = QueryOf<OperationInput<'listAuditTrail'>>
export type EventsQuery = QueryOf<OperationInput<'exportEvents'>>
