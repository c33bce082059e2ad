export type { Column, Order } from "./column";
export { DataTable, type DataTableProps } from "./data_table";
export type { Sorting } from "./sort";
